"use strict";
// The address came from another site, so the browser sent no cookie with it. Asked again from here, once, it does.
if (performance.getEntriesByType("navigation")[0]?.type !== "reload") location.reload();
