// What the template editor needs of the browser: to go to a line.
window.dash_clientside = Object.assign({}, window.dash_clientside, {
  adon_policy: {
    goto: (clicks) => {
      const { no_update, callback_context } = window.dash_clientside;
      const chosen = callback_context.triggered_id;
      const area = document.getElementById("editor-text");
      if (!chosen || !area || !clicks.some(Boolean)) return no_update;
      const lines = area.value.split("\n");
      const begins = lines.slice(0, chosen.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
      area.focus();
      area.setSelectionRange(begins, begins + (lines[chosen.line - 1] || "").length);
      return no_update;
    },
  },
});
