// Says of each notice in a file whether the package of Standard Webhooks accepts it: JSON, name → true or false.
import { readFileSync } from "node:fs";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

function accepts({ secret, headers, body }) {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

const notices = Object.entries(JSON.parse(readFileSync(process.argv[2], "utf8")));
console.log(JSON.stringify(Object.fromEntries(notices.map(([name, notice]) => [name, accepts(notice)]))));
