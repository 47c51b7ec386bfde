((require) => (async () => {
@TESTS@
;await check();
@SECRET@.end();
})())(@SECRET@.require);
