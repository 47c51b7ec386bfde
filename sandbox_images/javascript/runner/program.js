@SOLUTION@
;((require) => (async () => {
@SECRET@.restore();
@TESTS@
;await check();
@SECRET@.end();
})())(@SECRET@.require);
