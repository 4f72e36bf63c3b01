"use strict";
// The page reads without this script, which adds filters, sorting, a cursor on the chart
// and, where a server keeps the page up to date, what runs are at.
(() => {
  const say = (text) => { document.getElementById("say").textContent = text; };

  function overview() {
    const table = document.querySelector(".programs");
    if (!table) return;
    const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells], filter = document.getElementById("filter");
    const select = () => {
      for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(filter.value.toLowerCase());
    };
    filter.addEventListener("input", () => { select(); say([...body.rows].filter((row) => !row.hidden).length + " programs"); });
    // A cell without a value comes last.
    const value = (row, column) => {
      const text = row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
      return text === "" || text === "—" ? null : /^[-+]?[\d.]+(e[-+]?\d+)?( %.*)?$/i.test(text) ? parseFloat(text) : text;
    };
    function sort() {
      const column = heads.findIndex((cell) => cell.hasAttribute("aria-sort"));
      if (column < 0) return;
      const up = heads[column].getAttribute("aria-sort") === "ascending";
      body.append(...[...body.rows].sort((a, b) => {
        const x = value(a, column), y = value(b, column);
        if (x === null || y === null) return (x === null) - (y === null);
        const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
        return up ? order : -order;
      }));
    }
    heads.forEach((cell, column) => {
      if (column === 2) return;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = cell.textContent;
      cell.replaceChildren(button);
      button.addEventListener("click", () => {
        const order = cell.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", order);
        sort();
      });
    });
    return () => { select(); sort(); };
  }

  // program connects the tools of one program with its iterations.
  function program(section) {
    const list = section.querySelector(".iterations");
    if (!list) return;
    const filter = section.querySelector(".rows-filter"), outcome = section.querySelector(".rows-outcome");
    function select() {
      const wanted = filter.value.toLowerCase();
      let shown = 0;
      for (const row of list.children) {
        row.hidden = !((outcome.value === "" || row.classList.contains(outcome.value)) && row.textContent.toLowerCase().includes(wanted));
        if (!row.hidden) shown++;
      }
      return shown;
    }
    for (const [tool, event] of [[filter, "input"], [outcome, "change"]]) {
      tool.addEventListener(event, () => say(select() + " iterations"));
    }
    const row = (number) => document.getElementById(section.id + "-i" + number + "-row");
    // open shows an iteration, and gives it the focus.
    function open(number) {
      const opened = row(number);
      if (!opened) return;
      if (opened.hidden) { filter.value = ""; outcome.value = ""; select(); }
      opened.open = true;
      opened.querySelector("summary").focus();
      opened.scrollIntoView({ block: "nearest" });
    }
    cursor(section, row, open);
    return { open, select };
  }

  // cursor follows the pointer or the arrow keys on the trajectory.
  function cursor(section, row, open) {
    const chart = section.querySelector("svg.trajectory"), tip = section.querySelector(".tip"), slider = section.querySelector(".walk");
    const points = () => [...chart.querySelectorAll(".point")].map((point) => {
      const [x, y] = point.getAttribute("d").match(/[\d.]+/g);
      return { n: +point.dataset.n, x: +x, y: +y };
    }).sort((a, b) => a.n - b.n);
    function show(point) {
      chart.querySelector(".cursor").setAttribute("d", "M" + point.x + " 16V306M" + (point.x - 6) + " " + point.y + "h12");
      const words = [...row(point.n)?.querySelectorAll(".outcome, .value") ?? []].map((part) => part.textContent);
      tip.textContent = ["iteration " + point.n, ...words].join(", ");
      tip.hidden = false;
      slider.setAttribute("aria-valuetext", tip.textContent);
    }
    const nearest = (event) => {
      const box = chart.getBoundingClientRect();
      const x = (event.clientX - box.left) / box.width * 960, y = (event.clientY - box.top) / box.height * 340;
      const far = (point) => (point.x - x) ** 2 + ((point.y - y) / 3) ** 2;
      return points().reduce((best, point) => far(point) < far(best) ? point : best);
    };
    const walked = () => {
      const all = points();
      slider.max = all.length - 1;
      return all[slider.value];
    };
    slider.hidden = false;
    walked();
    slider.value = slider.max;
    chart.addEventListener("pointermove", (event) => show(nearest(event)));
    chart.addEventListener("pointerleave", () => { tip.hidden = true; chart.querySelector(".cursor").setAttribute("d", ""); });
    chart.addEventListener("click", (event) => { show(nearest(event)); open(nearest(event).n); });
    for (const event of ["input", "focus"]) slider.addEventListener(event, () => show(walked()));
    slider.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault(); // the same key would close what has the focus then
      open(walked().n);
    });
  }

  const programs = {};
  let ordered;

  // connect gives what has no tools yet its tools, and shows the view that the address names.
  function connect() {
    ordered ??= overview();
    ordered?.();
    for (const section of document.querySelectorAll(".program")) {
      programs[section.id] ??= program(section);
      programs[section.id]?.select();
    }
    for (const tools of document.querySelectorAll(".tools")) tools.hidden = false;
    choose();
  }

  const named = () => /^#(.*?)(?:-i(\d+))?$/.exec(location.hash) || [];

  function choose() {
    const views = [...document.querySelectorAll(".view")];
    const shown = views.find((view) => view.id === named()[1]) || views[0];
    for (const view of views) view.classList.toggle("shown", view === shown);
    document.getElementById("main").classList.add("scripted");
    document.title = (shown.querySelector("h1") || document.body).textContent + " · Autoloop";
  }

  // follow goes where the address leads.
  function follow() {
    choose();
    const [, id, number] = named();
    if (number) programs[id]?.open(number);
    else if (id) scrollTo(0, 0);
  }

  // renew makes an element say what a newer one says. What is the same stays, and so do what
  // a person opened and what this script adds, shows and hides.
  function renew(old, fresh) {
    if (old.isEqualNode(fresh) || old.nodeType === Node.ELEMENT_NODE && old.matches("thead, .walk")) return;
    if (old.nodeType !== Node.ELEMENT_NODE || old.tagName !== fresh.tagName) {
      old.replaceWith(fresh);
      return;
    }
    const ours = ["open", "hidden", ...(old.matches("main, .view") ? ["class"] : [])];
    for (const { name } of [...old.attributes]) if (!ours.includes(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (!ours.includes(name)) old.setAttribute(name, value);
    let next = old.firstChild;
    for (const child of [...fresh.childNodes]) {
      const same = child.id ? document.getElementById(child.id) : next?.id ? null : next;
      if (!same) {
        old.insertBefore(child, next);
      } else {
        if (same !== next) old.insertBefore(same, next);
        next = same.nextSibling;
        renew(same, child);
      }
    }
    while (next) {
      const after = next.nextSibling;
      next.remove();
      next = after;
    }
  }

  // live keeps a page that a server sent up to date.
  async function live() {
    const bar = document.getElementById("live");
    if (!bar) return;
    const text = bar.querySelector("p");
    for (let version, again = 1000; ;) {
      try {
        const state = await (await fetch("state")).json();
        text.textContent = state.running.join(" · ") || "no run in progress";
        again = state.again;
        if (version !== undefined && version !== state.version) {
          const page = new DOMParser().parseFromString(await (await fetch(location.pathname)).text(), "text/html");
          renew(document.getElementById("main"), page.getElementById("main"));
          connect();
          say("the page is up to date");
        }
        version = state.version;
      } catch {
        text.textContent = "the server does not answer: is `iterate page --serve` still running?";
      }
      await new Promise((done) => { setTimeout(done, again); });
    }
  }

  connect();
  follow();
  addEventListener("hashchange", follow);
  document.documentElement.dataset.ready = "yes";
  live();
})();
