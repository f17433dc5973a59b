
(() => {
  "use strict";
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const nav = document.querySelector("nav");
  const home = nav.querySelector(".home");
  const tree = nav.querySelector("ul");
  const sections = all("main > section");
  const search = document.querySelector(".search input");
  const buttons = all(".filter");
  const said = document.querySelector(".said");
  const told = document.querySelector(".told");
  const none = document.querySelector(".none");

  // -- the tree: one stop for the tab key, arrows inside -------------------------------------

  const links = all("a", tree);
  const linkOf = new Map([[home.hash.slice(1), home]]);
  const isShown = (link) => !link.closest("li").hidden && link.offsetParent !== null;
  const groupOf = (link) => link.nextElementSibling;
  const parentOf = (link) => {
    const item = link.closest("li").parentElement.closest("li");
    return item && item.querySelector("a");
  };

  const expand = (link, open) => {
    const group = groupOf(link);
    if (!group) return;
    group.hidden = !open;
    link.setAttribute("aria-expanded", String(open));
  };

  const rove = (link) => {
    const before = tree.querySelector('[tabindex="0"]');
    if (before) before.tabIndex = -1;
    link.tabIndex = 0;
  };

  const walk = (link) => {
    if (!link) return;
    rove(link);
    link.focus();
  };

  tree.setAttribute("role", "tree");
  tree.setAttribute("aria-label", "Commands");
  links.forEach((link, number) => {
    linkOf.set(link.hash.slice(1), link);
    link.parentElement.setAttribute("role", "none");
    link.setAttribute("role", "treeitem");
    link.tabIndex = number ? -1 : 0;
    const group = groupOf(link);
    if (group) {
      group.setAttribute("role", "group");
      group.id = "below-" + number;
      link.setAttribute("aria-owns", group.id);
      // Of many commands only the troubled are laid open.
      const open = links.length <= 80 || number === 0 || link.querySelector(".tally.fail") !== null;
      expand(link, open);
    }
  });

  nav.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (event.target.classList.contains("twist") && groupOf(link)) {
      expand(link, groupOf(link).hidden);
      return;
    }
    // Not by the browser: it would take the focus out of the tree.
    if (location.hash !== link.hash) history.pushState(null, "", link.hash);
    show(event);
  });

  tree.addEventListener("keydown", (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.altKey) return;
    const seen = () => links.filter(isShown);
    const group = groupOf(link);
    const keys = {
      ArrowDown: () => walk(seen()[seen().indexOf(link) + 1]),
      ArrowUp: () => walk(seen()[seen().indexOf(link) - 1]),
      Home: () => walk(seen()[0]),
      End: () => walk(seen().pop()),
      ArrowRight: () => {
        if (group && group.hidden) expand(link, true);
        else if (group) walk(all("a", group).find(isShown));
      },
      ArrowLeft: () => {
        if (group && !group.hidden) expand(link, false);
        else walk(parentOf(link));
      },
      " ": () => link.click(),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });

  // -- the filter ----------------------------------------------------------------------------

  const words = () => search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = () =>
    new Set(buttons.filter((each) => each.ariaPressed === "true").map((each) => each.dataset.status));

  // What a section says, taken from the page when it is first asked for.
  const known = new Map();
  const knownOf = (section) => {
    if (!known.has(section)) {
      const items = all("[data-status]", section).map((element) => ({
        element,
        status: element.dataset.status,
        text: element.textContent.toLowerCase(),
      }));
      const head = all(":scope > h2, :scope > .about", section);
      const title = section.id === "overview" ? "" : head.map((each) => each.textContent).join(" ");
      known.set(section, { items, title: title.toLowerCase() });
    }
    return known.get(section);
  };

  const fitting = (section, statuses, terms) => {
    const { items, title } = knownOf(section);
    const missing = terms.filter((term) => !title.includes(term));
    const fits = (item) =>
      (!statuses.size || statuses.has(item.status)) &&
      missing.every((term) => item.text.includes(term));
    return { fits, own: !statuses.size && !missing.length };
  };

  let here = document.getElementById("overview");

  // Only what is seen is gone through item by item.
  const sift = () => {
    const statuses = wanted();
    const terms = words();
    const { fits } = fitting(here, statuses, terms);
    let left = 0;
    for (const item of knownOf(here).items) {
      item.element.hidden = !fits(item);
      left += !item.element.hidden;
    }
    for (const passes of all("details.passes", here)) {
      passes.hidden = !passes.querySelector("[data-status]:not([hidden])");
      if (statuses.has("pass") || terms.length) passes.open = true;
    }
    for (const level of all("h3.level", here)) {
      let next = level.nextElementSibling;
      while (next && next.hidden && next.tagName === "DETAILS") next = next.nextElementSibling;
      level.hidden = !next || next.tagName !== "DETAILS";
    }
    none.hidden = left > 0 || !(statuses.size || terms.length);
  };

  const filter = () => {
    const statuses = wanted();
    const terms = words();
    const active = statuses.size > 0 || terms.length > 0;
    let number = 0;
    // From the end, so that a branch is decided when all beneath it are.
    for (const link of links.slice().reverse()) {
      const section = document.getElementById(link.hash.slice(1));
      const { fits, own } = fitting(section, statuses, terms);
      const hit = !active || own || knownOf(section).items.some(fits);
      number += hit;
      const group = groupOf(link);
      const beneath = group !== null && all(":scope > li", group).some((item) => !item.hidden);
      link.closest("li").hidden = !hit && !beneath;
      link.classList.toggle("beside", !hit);
      if (active && beneath) expand(link, true);
    }
    told.textContent = active ? `${number} of ${links.length} commands` : "";
    const stop = tree.querySelector('[tabindex="0"]');
    const first = links.find(isShown);
    if (first && (!stop || !isShown(stop))) rove(first);
    sift();
  };

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 80);
  });
  for (const button of buttons) {
    button.addEventListener("click", () => {
      button.ariaPressed = String(button.ariaPressed !== "true");
      filter();
    });
  }
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && typing && search.value) {
      search.value = "";
      filter();
    }
  });

  // -- one section at a time, the one the address names --------------------------------------

  const show = (event) => {
    const target = document.getElementById(location.hash.slice(1));
    const section = target ? target.closest("main > section") : sections[0];
    if (!section) return;
    here.classList.remove("here");
    here = section;
    here.classList.add("here");
    for (const link of all("[aria-current]", nav)) link.removeAttribute("aria-current");
    const link = linkOf.get(here.id);
    link.setAttribute("aria-current", "true");
    if (link !== home) {
      rove(link);
      for (let above = parentOf(link); above; above = parentOf(above)) expand(above, true);
      link.scrollIntoView({ block: "nearest" });
    }
    sift();
    if (event) said.textContent = `Shown: ${here.getAttribute("aria-label")}`;
    if (target && target !== section && section.contains(target)) {
      const item = target.closest("details");
      if (item) {
        item.open = true;
        item.hidden = false;
      }
      target.scrollIntoView({ block: "start" });
    } else {
      const top = document.querySelector(".columns").offsetTop - 70;
      if (scrollY > top) scrollTo(0, top);
    }
  };
  addEventListener("hashchange", show);

  // -- copying and printing ------------------------------------------------------------------

  document.querySelector("main").addEventListener("pointerover", (event) => {
    const line = event.target.closest("pre.line");
    if (line) offer(line);
  });
  document.querySelector("main").addEventListener("focusin", (event) => {
    for (const line of all("pre.line", event.target.closest("details") || here)) offer(line);
  });

  const offer = (line) => {
    if (!navigator.clipboard || line.querySelector(".copy")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => {
      navigator.clipboard.writeText(line.querySelector(".run").textContent).then(
        () => { button.textContent = "Copied"; },
        () => { button.textContent = "Not allowed"; },
      );
    });
    line.append(button);
  };

  // On paper nothing can be opened.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("main details.item:not([open])");
    for (const each of closed) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of closed) each.open = false;
  });

  show();
})();
