// The dashboard's own script: copying, local times, menus, problems of parts of a page, the link of an invitation.
"use strict";

async function copy(button) {
  const source = document.getElementById(button.dataset.copy), status = button.parentElement.querySelector("[role=status]");
  try {
    await navigator.clipboard.writeText(source.textContent.trim());
    status.textContent = "copied";
  } catch {
    getSelection().selectAllChildren(source);
    status.textContent = "select and copy it by hand";
  }
}

function takeInvitation(place) {
  // The secret is in the fragment, which no server sees; over a sign-in or a reload it waits in this tab until it is sent.
  const given = location.hash.slice(1) || sessionStorage.getItem("invitation") || "";
  sessionStorage.setItem("invitation", given);
  history.replaceState(null, "", location.pathname);
  if (given) htmx.ajax("POST", "/dashboard/invitation/details", { target: "#invitation", values: { secret: given } });
  if (place.tagName !== "FORM") return;
  place.elements.secret.value = given;
  place.addEventListener("submit", () => sessionStorage.removeItem("invitation"));
}

function showLocalTimes(root) {
  const style = (timeStyle) => new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle });
  const minutes = style("short"), seconds = style("medium");
  for (const time of root.querySelectorAll("time[datetime]:not([title])")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    time.title = time.textContent.trim();
    time.textContent = (/:\d\d:\d\d/.test(time.title) ? seconds : minutes).format(moment);
  }
}

// Enhances what is new on the page.
function prepare(root) {
  drawPlots(root);
  prepareBars(root);
  showLocalTimes(root);
  prepareTables(root);
}

// A part of a page that cannot be had says why, where it would stand; it never leaves the answer to an older question.
function showProblem(event) {
  const { xhr, target } = event.detail;
  const place = target.closest("[data-problems]") || target;
  if (xhr && xhr.status && xhr.responseText.includes('class="notice')) {
    place.innerHTML = xhr.responseText;  // a part of ours, in which everything is escaped
  } else {
    const note = document.createElement("p");
    note.className = "notice bad";
    note.setAttribute("role", "alert");
    note.textContent = "The service cannot be reached. Try again.";
    place.replaceChildren(note);
  }
}

// A field is marked as long as a sentence beside it says what is wrong.
function markFaults() {
  for (const fault of document.querySelectorAll(".fault[id]")) {
    const field = document.getElementById(fault.id.replace("fault-", ""));
    if (fault.textContent) field?.setAttribute("aria-invalid", "true");
    else field?.removeAttribute("aria-invalid");
  }
}

// Readers hear a job's state when it changes, not with each new number of rows.
function announceState(root) {
  const state = root.querySelector("[data-state]")?.dataset.state, place = document.getElementById("announced");
  if (state && place && place.textContent !== state) place.textContent = state;
}

function shortcut(event) {
  if ((event.ctrlKey || event.metaKey) && event.key === "k") {
    const field = document.querySelector('[data-shortcut="/"]');
    if (field) { event.preventDefault(); field.focus(); field.select(); }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  const field = document.querySelector(`[data-shortcut="${CSS.escape(event.key)}"]`);
  if (field) {
    event.preventDefault();
    field.focus();
    field.select();
  }
  document.querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
}

function toggleMenu(button) {
  const shown = document.getElementById(button.getAttribute("aria-controls")).classList.toggle("shown");
  button.setAttribute("aria-expanded", String(shown));
}

// What was typed into a form goes along to another one of its kind; an empty field, or a first choice, takes the address's value away.
function keepTyped(link, form) {
  const address = new URL(link.href);
  for (const field of form.querySelectorAll("input:not([type=hidden], [type=checkbox]), select")) {
    if (field.value && field.selectedIndex !== 0) address.searchParams.set(field.name, field.value);
    else address.searchParams.delete(field.name);
  }
  link.href = address;
}

document.addEventListener("DOMContentLoaded", () => {
  prepare(document);
  const invitation = document.querySelector("[data-invitation]");
  if (invitation) takeInvitation(invitation);
  const failed = document.querySelector("[data-retry]");
  if (failed) setTimeout(() => location.reload(), failed.dataset.retry * 1000);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]"), all = event.target.closest("[data-check]");
    const menu = event.target.closest("[data-menu]");
    const keeper = event.target.closest("[data-keeps] a");
    if (keeper) keepTyped(keeper, document.getElementById(keeper.closest("[data-keeps]").dataset.keeps));
    if (button) copy(button);
    if (menu) toggleMenu(menu);
    if (all) {
      for (const box of all.closest("fieldset").querySelectorAll("input[type=checkbox]")) box.checked = all.dataset.check === "all";
      all.form.dispatchEvent(new Event("input", { bubbles: true }));
    }
    for (const open of document.querySelectorAll("details.sure[open]")) {
      if (!open.contains(event.target)) open.open = false;
    }
  });
  document.addEventListener("keydown", shortcut);
  document.addEventListener("htmx:responseError", showProblem);
  document.addEventListener("htmx:sendError", showProblem);
  document.addEventListener("htmx:afterSwap", (event) => {
    prepare(event.target);
    announceState(event.target);
  });
  document.addEventListener("htmx:afterSettle", markFaults);
  const again = () => drawPlots(document);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; again(); } });
});
