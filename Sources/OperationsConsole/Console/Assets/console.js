// Live parts of the console. Every page works without this.
"use strict";

// Times in the reader's own zone, with UTC beside them; the day only where it is not today.
function showTimes(root) {
  const now = new Date();
  for (const time of root.querySelectorAll("time[datetime]")) {
    const text = time.getAttribute("datetime");
    const moment = new Date(text);
    if (isNaN(moment)) continue;
    const isToday = moment.toDateString() === now.toDateString();
    const local = isToday
      ? moment.toLocaleTimeString(undefined, { timeStyle: "medium" })
      : moment.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
    const utc = document.createElement("span");
    utc.className = "utc";
    utc.textContent = (text.slice(0, 10) === now.toISOString().slice(0, 10) ? "" : text.slice(0, 10) + " ")
      + text.slice(11, 19) + " UTC";
    time.title = text;
    time.replaceChildren(local, " ", utc);
  }
}

// A page that says so is looked at again, but never under the fingers of somebody who writes or reads a part of it.
function isBusy(main) {
  const active = document.activeElement;
  const isInside = active && active !== main && main.contains(active);
  return document.hidden || isInside || main.querySelector("details[open]") || String(getSelection()) !== "";
}

async function refresh(main) {
  if (isBusy(main)) return;
  try {
    const answer = await fetch(location.href, { redirect: "error", headers: { "X-Refresh": "1" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.getElementById("main");
    if (!found || isBusy(main)) return;
    const top = scrollY;
    main.replaceChildren(...found.childNodes);
    showTimes(main);
    scrollTo(0, top);
    document.querySelector(".stale-note").hidden = true;
  } catch {
    document.querySelector(".stale-note").hidden = false;
  }
}

// The digest of a file, made in the browser: the file itself goes nowhere.
function offerDigest(input) {
  if (!window.isSecureContext || !crypto.subtle) return;
  const file = document.createElement("input");
  file.type = "file";
  file.setAttribute("aria-label", "File whose SHA-256 is taken; it stays here");
  file.addEventListener("change", async () => {
    if (!file.files.length) return;
    const digest = await crypto.subtle.digest("SHA-256", await file.files[0].arrayBuffer());
    input.value = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  });
  input.after(file);
}

const main = document.getElementById("main");
showTimes(document);
document.querySelectorAll("input[data-digest]").forEach(offerDigest);
if (main && main.dataset.live) setInterval(refresh, Number(main.dataset.live) * 1000, main);
