import java.io.*;
import java.util.*;
import java.util.stream.*;

/** Uses what programs commonly use, so that the compiler's classes for it are in the archive. */
class Warm {
    interface Shape { double area(); }
    record Square(double side) implements Shape { public double area() { return side * side; } }
    enum Kind { ONE, TWO }

    static <T extends Comparable<T>> T largest(List<? extends T> values) {
        T found = null;
        for (T value : values) if (found == null || value.compareTo(found) > 0) found = value;
        return found;
    }

    public static void main(String[] arguments) throws IOException {
        try (BufferedReader reader = new BufferedReader(new StringReader("2 3\n"))) {
            int[] numbers = Arrays.stream(reader.readLine().split(" ")).mapToInt(Integer::parseInt).toArray();
            Map<String, List<Integer>> map = new HashMap<>();
            map.computeIfAbsent("x", key -> new ArrayList<>()).add(numbers[0] + numbers[1]);
            Shape shape = new Square(2);
            var text = map.entrySet().stream().map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(","));
            switch (Kind.valueOf("ONE")) {
                case ONE: System.out.printf("%s %d %.1f%n", text, largest(List.of(1, 2)), shape.area()); break;
                default: throw new IllegalStateException("none");
            }
        }
    }
}
