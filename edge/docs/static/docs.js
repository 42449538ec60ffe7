// Copies what is to be typed, and runs the first calls from the page, with the anonymous token, against the same origin.
const page = document.getElementById("docs");

// The theme that was chosen in the dashboard; pages of the documentation are the same for everybody.
const theme = /(?:^|; )theme=(light|dark)(?:;|$)/.exec(document.cookie)?.[1];
if (theme) {
  document.getElementById("dark").media = theme === "dark" ? "all" : "not all";
  document.querySelector("meta[name=color-scheme]").content = theme;
}

// In a transcript the commands follow `$ `; what is printed is not copied with them.
function typed(block) {
  const text = block.textContent.trim();
  const commands = Array.from(text.matchAll(/^\$ ((?:.*\\\n)*.*)$/gm), (found) => found[1]);
  return commands.length ? commands.join("\n") : text;
}

function offerCopy(block) {
  const around = document.createElement("div");
  const button = document.createElement("button");
  around.className = "copied";
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(typed(block));
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(block);
    }
  });
  block.replaceWith(around);
  around.append(block, button);
}

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

for (const code of document.querySelectorAll("code.language-try")) {
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

// A browser has a clipboard on encrypted and local pages only.
if (navigator.clipboard) document.querySelectorAll(".text pre").forEach(offerCopy);

// The same keys as in the dashboard; a page without the field leads to the one that has it.
document.addEventListener("keydown", (event) => {
  const both = (event.ctrlKey || event.metaKey) && event.key === "k";
  const alone = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest("input, select, textarea");
  if (!both && !alone) return;
  event.preventDefault();
  const field = document.getElementById("q");
  if (field) { field.focus(); field.select(); } else location.assign("/v1/docs/search");
});
