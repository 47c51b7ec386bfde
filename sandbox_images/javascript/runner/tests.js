((require) => (async () => {
@TESTS@
;await @SECRET@.end(await check());
})())(@SECRET@.require);
