// Runs the first calls from the page, with the anonymous token, against the same origin.
const page = document.getElementById("docs");

async function run(path, answer) {
  answer.hidden = false;
  answer.textContent = "…";
  try {
    const response = await fetch(path, { headers: { "X-Service-Public-Token": page.dataset.token } });
    const limits = response.headers.get("RateLimit");
    const body = JSON.stringify(await response.json(), null, 2);
    answer.textContent = `${response.status} ${response.statusText}\n${limits ? `RateLimit: ${limits}\n` : ""}\n${body}`;
  } catch (error) {
    answer.textContent = `The call did not get through: ${error.message}`;
  }
}

for (const code of page.querySelectorAll("code.language-try")) {
  const address = code.textContent.match(/'(https?:\/\/[^']+)'/)[1];
  const url = new URL(address);
  const answer = document.createElement("output");
  const button = document.createElement("button");
  answer.className = "answer";
  answer.hidden = true;
  button.type = "button";
  button.textContent = "Run it";
  button.addEventListener("click", () => run(url.pathname + url.search, answer));
  code.parentElement.after(button, answer);
}
