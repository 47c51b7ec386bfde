"use strict";
// The address came from another site, so the browser sent no cookie with it. Asked again from here, it does.
location.reload();
