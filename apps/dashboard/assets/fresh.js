// Refresh of an open page: no request while the page is hidden, fewer requests while the server is busy.
(() => {
  const missed = new Map();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    missed.forEach((look) => window.dash_clientside.set_props(look, { data: Date.now() }));
    missed.clear();
  });
  const CALM = 4; // times as long as an answer took, nothing more is asked: so a page takes a fifth of the server at most
  const PATIENCE_MS = 30000;
  let restUntil = 0;
  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    adon_fresh: {
      // A tick becomes a look, unless the page is hidden: then it does so when the page is shown again.
      look: (ticks) => {
        const { no_update, callback_context } = window.dash_clientside;
        if (!document.hidden) return ticks;
        const look = callback_context.outputs_list.id;
        missed.set(JSON.stringify(look), look);
        return no_update;
      },
      // What moves on the page, if it is not what the reader sees already.
      poll: async (_look, path, search, tag) => {
        const { no_update } = window.dash_clientside;
        const asked = performance.now();
        if (asked < restUntil) return [no_update, no_update];
        restUntil = Infinity;
        const address = path + (search || "");
        let content = no_update, next = no_update;
        try {
          const answer = await fetch(`/_live?${new URLSearchParams({ path, search: search || "" })}`, {
            headers: tag ? { "If-None-Match": `"${tag}"` } : {}, signal: AbortSignal.timeout(PATIENCE_MS),
          });
          if (answer.status === 200) [content, next] = [await answer.json(), answer.headers.get("ETag").slice(1, -1)];
        } catch { /* the network, or the server, is away: the next tick asks again */ }
        restUntil = performance.now() + CALM * (performance.now() - asked);
        const elsewhere = location.pathname + location.search !== address;
        return elsewhere ? [no_update, no_update] : [content, next];
      },
    },
  });
})();
