@SOLUTION@
;@SECRET@.test((tests) => eval(tests));
