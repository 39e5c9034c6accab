// A page that is open when its session ends says so, and asks for nothing more until one signs in again.
(() => {
  const ask = window.fetch.bind(window);
  const nothing = () => new Response(null, { status: 204 }); // which Dash takes for: all stays as it is
  let over = false;
  // Looks (refresh.js) pause while an answer is awaited, and then for 4 times as long as it took, at most 30 s.
  let awaited = 0, restUntil = 0;
  window.adonRests = () => awaited > 0 || performance.now() < restUntil;
  const timed = async (request) => {
    const asked = performance.now();
    awaited += 1;
    try { return await request(); }
    finally {
      awaited -= 1;
      const now = performance.now();
      restUntil = now + Math.min(4 * (now - asked), 30000);
    }
  };
  window.fetch = async (what, ...more) => {
    const to = new URL(typeof what === "string" ? what : what.url ?? what, location.href);
    if (to.origin !== location.origin || !to.pathname.startsWith("/_dash-")) return ask(what, ...more);
    if (over) return nothing();
    const answer = await timed(() => ask(what, ...more));
    if (answer.status !== 401) return answer;
    if (!over) tell();
    over = true;
    return nothing();
  };
  function tell() {
    const told = document.createElement("div");
    told.className = "notice bad session-over";
    told.setAttribute("role", "alert");
    const way = document.createElement("a");
    way.href = location.href; // without a session it leads to the sign-in, and from there back to this page
    way.textContent = "Sign in again";
    told.append("Your session has ended. This page no longer updates. ", way);
    document.body.append(told);
  }
})();
