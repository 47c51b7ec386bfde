import java.util.*;
import java.util.function.*;
import java.util.stream.*;

@SOLUTION@

class Tests {
@TESTS@
}

class Main {
    public static void main(String[] arguments) throws Exception {
        Tests.check();
        try (java.io.FileInputStream in = new java.io.FileInputStream("/proc/self/fd/3");
             java.io.FileOutputStream out = new java.io.FileOutputStream("/proc/self/fd/4")) {
            out.write(in.readNBytes(64));
        }
    }
}
