// Runs the first calls from the page, with the anonymous token, against the same origin.
const token = document.getElementById("token");

async function run(button) {
  const answer = button.parentElement.querySelector(".answer");
  answer.hidden = false;
  answer.textContent = "…";
  try {
    const path = new URL(token.dataset.base).pathname + button.dataset.run;
    const response = await fetch(path, { headers: { "X-Service-Public-Token": token.textContent } });
    const limits = response.headers.get("RateLimit");
    const body = JSON.stringify(await response.json(), null, 2);
    answer.textContent = `${response.status} ${response.statusText}\n${limits ? `RateLimit: ${limits}\n` : ""}\n${body}`;
  } catch (error) {
    answer.textContent = `The call did not get through: ${error.message}`;
  }
}

for (const button of document.querySelectorAll("[data-run]")) {
  button.addEventListener("click", () => run(button));
}
