// Runs before anything is drawn: the chosen colours, and the browser's time zone for the server to use.
(() => {
  const chosen = localStorage.getItem("adon-theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  document.cookie = `adon_zone=${zone}; path=/; SameSite=Strict; max-age=31536000`;
})();
window.dash_clientside = Object.assign({}, window.dash_clientside, {
  adon: {
    // A page of its own to the browser: its title, the navigation's mark, and the reader's place at its top.
    entitle: (title, path) => {
      if (!title) return window.dash_clientside.no_update;
      const first = document.title === "ADON";
      document.title = `${title} · ADON`;
      document.querySelectorAll("#nav a").forEach((link) => {
        const here = link.getAttribute("href");
        const current = here === "/" ? path === "/" : path === here || path.startsWith(here + "/");
        current ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
        if (current) link.scrollIntoView({ block: "nearest" }); // on a low screen the navigation scrolls by itself
      });
      document.getElementById("nav")?.classList.remove("open");
      if (!first) { window.scrollTo(0, 0); document.getElementById("main")?.focus({ preventScroll: true }); }
      return window.dash_clientside.no_update;
    },
    menu: (clicks) => {
      const open = Boolean(clicks) && document.getElementById("nav").classList.toggle("open");
      return open ? "true" : "false";
    },
    // The last of several calls in quick succession, a moment after it; the earlier ones come to nothing.
    // The initial value of a page is not typed: it takes effect at once.
    settle: (...values) => {
      const waiting = (window.adonSettling ??= {});
      const { outputs_list, triggered } = window.dash_clientside.callback_context;
      const key = outputs_list.id;
      clearTimeout(waiting[key]?.timer);
      waiting[key]?.drop();
      if (!triggered.length) { delete waiting[key]; return values; }
      return new Promise((resolve) => {
        const timer = setTimeout(() => { delete waiting[key]; resolve(values); }, 350);
        waiting[key] = { timer, drop: () => resolve(window.dash_clientside.no_update) };
      });
    },
    theme: (clicks) => {
      if (!clicks) return window.dash_clientside.no_update;
      const root = document.documentElement;
      const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      localStorage.setItem("adon-theme", root.dataset.theme);
      return window.dash_clientside.no_update;
    },
  },
});
