"use strict";
// The page reads without this script, which adds filters, sorting, older iterations and
// a cursor on the chart.
(() => {
  const perPage = 50;
  const say = (text) => { document.getElementById("say").textContent = text; };

  // unpack reads the packed rows of a page by their programs.
  async function unpack(page) {
    const packed = page.getElementById("data").textContent.trim().replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const programs = {};
    for (const line of (await new Response(stream).text()).split("\n")) {
      if (!line) continue;
      const row = JSON.parse(line);
      (programs[row.id] ??= []).push(row);
    }
    return programs;
  }

  function overview() {
    const table = document.querySelector(".programs");
    if (!table) return;
    const body = table.tBodies[0];
    const filter = document.getElementById("filter");
    filter.addEventListener("input", () => {
      const wanted = filter.value.toLowerCase();
      let shown = 0;
      for (const row of body.rows) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
        if (!row.hidden) shown++;
      }
      say(shown + " programs");
    });
    // A cell without a value comes last.
    const value = (row, column) => {
      const text = row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
      return text === "" || text === "—" ? null : /^[-+]?[\d.]+(e[-+]?\d+)?( %.*)?$/i.test(text) ? parseFloat(text) : text;
    };
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      if (column === 2) return;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = cell.textContent;
      cell.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = cell.getAttribute("aria-sort") !== "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...body.rows].sort((a, b) => {
          const x = value(a, column), y = value(b, column);
          if (x === null || y === null) return (x === null) - (y === null);
          const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
          return up ? order : -order;
        });
        body.append(...rows);
      });
    });
  }

  // words is the text of an iteration, without its markup.
  function words(row) {
    row.words ??= new DOMParser().parseFromString(row.h, "text/html").body.textContent.toLowerCase();
    return row.words;
  }

  // program connects the tools of one program with its rows.
  function program(section, rows) {
    const list = section.querySelector(".iterations");
    if (!list) return;
    const filter = section.querySelector(".rows-filter"), outcome = section.querySelector(".rows-outcome");
    const pager = section.querySelector(".pager"), where = section.querySelector(".where");
    const newer = section.querySelector(".newer"), older = section.querySelector(".older");
    section.querySelector(".more").hidden = true;
    let shown = rows, first = 0;
    function draw() {
      list.innerHTML = shown.slice(first, first + perPage).map((row) => row.h).join("");
      pager.hidden = shown.length <= perPage;
      newer.disabled = first === 0;
      older.disabled = first + perPage >= shown.length;
      where.textContent = shown.length === 0 ? "no iteration" : (first + 1) + "–" + Math.min(first + perPage, shown.length) + " of " + shown.length;
    }
    function select() {
      const wanted = filter.value.toLowerCase();
      shown = rows.filter((row) => (outcome.value === "" || row.o === outcome.value || outcome.value === "error" && row.o === "ci-fix-exhausted") &&
        (wanted === "" || words(row).includes(wanted)));
      first = 0;
      draw();
      say(shown.length + " iterations");
    }
    filter.addEventListener("input", select);
    outcome.addEventListener("change", select);
    newer.addEventListener("click", () => { first = Math.max(first - perPage, 0); draw(); });
    older.addEventListener("click", () => { first += perPage; draw(); });
    section.querySelector(".csv").addEventListener("click", () => {
      const head = ["iteration", "time", "outcome", "metric", "compared_with", "delta", "agent", "model", "cost_usd", "seconds", "commit", "summary"];
        const number = /^[-+]?\d*\.?\d+(e[-+]?\d+)?$/i;
      const cell = (text) => '"' + (/^[=+@\t\r-]/.test(text) && !number.test(text) ? "'" + text : text).replaceAll('"', '""') + '"';
      const lines = [head, ...shown.map((row) => row.c)].map((row) => row.map(cell).join(","));
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" }));
      link.download = section.dataset.program.replace(/^program-/, "") + ".csv";
      link.click();
      URL.revokeObjectURL(link.href);
    });
    // open shows an iteration, and gives it the focus.
    function open(number) {
      if (!shown.some((row) => row.n === number)) { filter.value = ""; outcome.value = ""; shown = rows; }
      const at = shown.findIndex((row) => row.n === number);
      if (at < 0) return;
      first = at - at % perPage;
      draw();
      const detail = document.getElementById(section.id + "-i" + number);
      detail.closest("details").open = true;
      detail.closest("details").querySelector("summary").focus();
      detail.scrollIntoView({ block: "nearest" });
    }
    draw();
    cursor(section, rows, open);
    return {
      open,
      // top is the first row of a later page.
      top: () => first === 0 ? undefined : shown[first]?.n,
      from: (number) => { first = Math.max(0, shown.findIndex((row) => row.n === number)); draw(); },
    };
  }

  // cursor follows the pointer or the arrow keys on the trajectory.
  function cursor(section, rows, open) {
    const chart = section.querySelector("svg.trajectory"), tip = section.querySelector(".tip");
    const points = rows.filter((row) => row.p).sort((a, b) => a.n - b.n);
    if (!chart || points.length === 0) return;
    const mark = document.createElementNS("http://www.w3.org/2000/svg", "path");
    mark.setAttribute("class", "cursor");
    chart.append(mark);
    const figure = chart.closest("figure");
    const slider = document.createElement("input");
    slider.type = "range";
    slider.min = 0; slider.max = points.length - 1; slider.value = points.length - 1;
    slider.className = "walk";
    slider.setAttribute("aria-label", "Walk through the iterations of " + section.querySelector("h1").textContent + "; Enter opens one");
    figure.querySelector("figcaption").before(slider);
    let at = -1;
    function show(index) {
      at = Math.max(0, Math.min(points.length - 1, index));
      const row = points[at];
      mark.setAttribute("d", "M" + row.p[0] + " 16V306M" + (row.p[0] - 6) + " " + row.p[1] + "h12");
      tip.textContent = "iteration " + row.t;
      tip.hidden = false;
      slider.value = at;
      slider.setAttribute("aria-valuetext", tip.textContent);
    }
    const nearest = (event) => {
      const box = chart.getBoundingClientRect();
      const x = (event.clientX - box.left) / box.width * 960, y = (event.clientY - box.top) / box.height * 340;
      let best = 0, distance = Infinity;
      points.forEach((row, index) => {
        const d = (row.p[0] - x) ** 2 + ((row.p[1] - y) / 3) ** 2;
        if (d < distance) { distance = d; best = index; }
      });
      return best;
    };
    chart.addEventListener("pointermove", (event) => show(nearest(event)));
    chart.addEventListener("pointerleave", () => { tip.hidden = true; mark.removeAttribute("d"); });
    chart.addEventListener("click", (event) => { show(nearest(event)); open(points[at].n); });
    for (const event of ["input", "focus"]) slider.addEventListener(event, () => show(+slider.value));
    slider.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault(); // the same key would close what has the focus then
      open(points[+slider.value].n);
    });
  }

  let programs = {};
  const named = () => /^#(.*?)(?:-i(\d+))?$/.exec(location.hash) || [];

  // choose shows the view that the address names, whose row may not be drawn yet: so
  // :target does not choose it.
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
    if (number && programs[id]) programs[id].open(Number(number));
    else if (id) scrollTo(0, 0);
  }

  // connect gives the page its tools, in one step: none is shown before it works.
  function connect(data) {
    for (const tools of document.querySelectorAll(".tools:not(.pager)")) tools.hidden = false;
    overview();
    programs = {};
    for (const section of document.querySelectorAll(".program")) {
      const tools = program(section, data[section.id] || []);
      if (tools) programs[section.id] = tools;
    }
    choose();
  }

  async function begin() {
    let data;
    try {
      data = await unpack(document);
    } catch (error) {
      say("older iterations cannot be shown: " + error.message);
      return;
    }
    connect(data);
    follow();
    document.documentElement.dataset.ready = "yes";
  }

  // leftBy notes what a person did on the page, and gives the function that does it again.
  function leftBy() {
    const name = (tool) => [tool.closest("section").id, tool.className || tool.id].join(" ");
    const tools = () => [...document.querySelectorAll("#main .tools :is(input, select, button), #main .walk")];
    const change = (tool) => tool.dispatchEvent(new Event(tool.tagName === "SELECT" ? "change" : "input"));
    const heads = () => [...document.querySelectorAll(".programs thead th")];
    const earlier = () => [...document.querySelectorAll("details.earlier")];
    const place = (notes) => [notes.closest("section").id, notes.parentElement.querySelector("h2").textContent].join(" ");
    const at = scrollY, entered = new Map(), tops = new Map();
    for (const tool of tools()) if (tool.matches("select, [type=search], .walk:focus") && tool.value) entered.set(name(tool), tool.value);
    for (const [id, { top }] of Object.entries(programs)) tops.set(id, top());
    const sorted = heads().findIndex((cell) => cell.hasAttribute("aria-sort")), up = heads()[sorted]?.getAttribute("aria-sort") === "ascending";
    const opened = [...document.querySelectorAll("details[open] .detail")].map((detail) => detail.id);
    const noted = earlier().filter((notes) => notes.open).map(place);
    const focus = document.activeElement, detail = focus.closest("details")?.querySelector(".detail")?.id;
    const tool = tools().includes(focus) ? name(focus) : undefined;
    const head = heads().findIndex((cell) => cell.contains(focus));
    const marked = focus.type === "search" ? [focus.selectionStart, focus.selectionEnd] : undefined;
    return () => {
      if (sorted >= 0) for (let i = 0; i < (up ? 1 : 2); i++) heads()[sorted].querySelector("button").click();
      for (const tool of tools()) {
        if (!entered.has(name(tool))) continue;
        tool.value = entered.get(name(tool));
        change(tool);
      }
      for (const [id, top] of tops) if (top !== undefined) programs[id]?.from(top);
      for (const id of opened) document.getElementById(id)?.closest("details").setAttribute("open", "");
      for (const notes of earlier()) if (noted.includes(place(notes))) notes.open = true;
      const again = detail ? document.getElementById(detail)?.closest("details").querySelector("summary") :
        tool ? tools().find((one) => name(one) === tool) : heads()[head]?.querySelector("button");
      again?.focus({ preventScroll: true });
      if (marked) again?.setSelectionRange(...marked);
      scrollTo(0, at);
    };
  }

  // live keeps a page that a server sent up to date.
  function live() {
    const bar = document.getElementById("live");
    if (!bar) return;
    const text = bar.querySelector("p"), stop = bar.querySelector(".stop");
    let version, running = [];
    function tell() {
      text.textContent = running.length === 0 ? "no run in progress" : running.map((run) => {
        const seconds = Math.max(0, Math.round((Date.now() - Date.parse(run.since)) / 1000));
        return run.program + " #" + run.iteration + " " + run.stage + (run.detail ? ": " + run.detail : "") + (seconds < 1e6 ? " (" + seconds + " s)" : "");
      }).join(" · ");
    }
    setInterval(() => { if (running.length) tell(); }, 1000);
    let renewing = false, again = false;
    // renew gets the page anew, once at a time: an older answer never comes after a newer.
    async function renew() {
      again = true;
      if (renewing) return;
      renewing = true;
      try {
        while (again) {
          again = false;
          await replace();
        }
      } finally {
        renewing = false;
      }
    }
    // replace takes the page as it is now, once all of it is there.
    async function replace() {
      const answer = await fetch(location.pathname);
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const data = await unpack(page);
      const putBack = leftBy();
      document.getElementById("main").replaceWith(page.getElementById("main"));
      connect(data);
      putBack();
      say("the page is up to date");
    }
    const source = new EventSource("events");
    source.onmessage = (event) => {
      const state = JSON.parse(event.data);
      running = state.running;
      stop.disabled = running.length === 0;
      if (running.length === 0) stop.textContent = "Stop after this iteration";
      tell();
      if (version !== undefined && version !== state.version) renew();
      version = state.version;
    };
    source.onerror = () => { text.textContent = "the server does not answer: is `iterate page --serve` still running?"; };
    stop.addEventListener("click", async () => {
      const answer = await fetch("stop", { method: "POST", headers: { "X-Autoloop": "stop" } });
      if (!answer.ok) { say("stopping failed"); return; }
      stop.disabled = true;
      stop.textContent = "It stops after this iteration";
    });
  }

  addEventListener("hashchange", follow);
  begin().then(live);
})();
