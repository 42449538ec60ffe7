// The page begins as a list of all calls, which is small. Scalar is a program of 3 MB: it is loaded once a call is opened.
const index = document.querySelector(".site-calls"), place = document.getElementById("reference");
const viewer = document.currentScript.dataset.viewer;

function loadViewer() {
  if (!index.isConnected || !location.hash.startsWith("#tag/")) return;
  index.remove();
  place.textContent = "Loading …";
  place.focus();
  const script = document.createElement("script");
  script.src = viewer;
  script.addEventListener("load", showViewer);
  script.addEventListener("error", () => { place.textContent = "The reference could not be loaded. Reload the page to try again."; });
  document.body.append(script);
}

const sought = document.getElementById("find"), found = document.getElementById("found");
sought.addEventListener("input", () => {
  const words = sought.value.toLowerCase().split(/\s+/), calls = [...index.querySelectorAll("li")];
  for (const call of calls) call.hidden = !words.every((word) => call.textContent.toLowerCase().includes(word));
  for (const section of index.querySelectorAll("section")) section.hidden = !section.querySelector("li:not([hidden])");
  found.textContent = sought.value ? `${calls.filter((call) => !call.hidden).length} of ${calls.length} calls` : "";
});
addEventListener("hashchange", loadViewer);
loadViewer();

// Everything that would leave this origin is off.
function showViewer() {
  Scalar.createApiReference("#reference", {
    url: "/v1/docs/reference/openapi.json",
    withDefaultFonts: false,
    telemetry: false,
    proxyUrl: "",
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: "never",
    showToolbar: "never",
    documentDownloadType: "both",
    hiddenClients: true,
    persistAuth: false,
    metaData: { title: "Reference · Item Index" },
  });
}

// What screen readers and keyboards need and Scalar leaves out: names of buttons that show a picture alone, roles that fit,
// lists that can be focused to scroll them, links that lead somewhere. Again after each change: Scalar makes its parts as the page is scrolled.
let due = false;
const mend = () => {
  due = false;
  for (const button of document.querySelectorAll("button[aria-selected]:not([role=tab], [role=option])")) {
    if (button.getAttribute("aria-selected") === "true") button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    button.removeAttribute("aria-selected");
  }
  for (const button of document.querySelectorAll("button[role=search]")) button.removeAttribute("role");
  for (const button of document.querySelectorAll("button.scalar-code-copy:not([aria-label])")) button.setAttribute("aria-label", "Copy");
  for (const part of document.querySelectorAll("button [tabindex]")) part.removeAttribute("tabindex");
  for (const list of document.querySelectorAll("ul.endpoints:not([tabindex])")) list.tabIndex = 0;
  for (const link of document.querySelectorAll("ul[aria-label] a.endpoint:not([href])")) {
    const tag = link.closest("ul").ariaLabel.replace(/ endpoints$/, "");
    const [method, path] = [...link.children].map((part) => part.textContent.trim());
    link.href = `#tag/${tag}/${method.toUpperCase()}${path}`;
  }
};
new MutationObserver(() => {
  if (!due) requestAnimationFrame(mend);
  due = true;
}).observe(document.body, { subtree: true, childList: true, attributeFilter: ["aria-selected"] });
