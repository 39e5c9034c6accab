// Refresh of an open page: a tick becomes a look, unless the page is hidden. It then has one when it is shown again.
(() => {
  const missed = new Map();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    missed.forEach((look) => window.dash_clientside.set_props(look, { data: Date.now() }));
    missed.clear();
  });
  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    adon_refresh: {
      look: (ticks) => {
        const { no_update, callback_context } = window.dash_clientside;
        if (!document.hidden) return window.adonRests() ? no_update : ticks;
        const look = callback_context.outputs_list.id;
        missed.set(JSON.stringify(look), look);
        return no_update;
      },
    },
  });
})();
