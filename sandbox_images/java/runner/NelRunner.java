import java.io.*;
import java.math.*;
import java.util.*;
import java.util.function.*;
import java.util.stream.*;

class NelRunner {
@TESTS@

    public static void main(String[] arguments) throws Throwable {
        check();
        // Opening /dev/fd/3 anew is not allowed to this user, and there is no public way to a descriptor by its number.
        var descriptor = FileDescriptor.class.getDeclaredConstructor(int.class);
        descriptor.setAccessible(true);
        byte[] token = new byte[64];
        int size = new FileInputStream(descriptor.newInstance(3)).read(token);
        new FileOutputStream(descriptor.newInstance(4)).write(token, 0, size);
        Runtime.getRuntime().halt(0);
    }
}
