@SOLUTION@

@TESTS@

fn main() {
    use std::io::{Read, Write};
    use std::os::unix::io::FromRawFd;
    check();
    let mut token = Vec::new();
    let (mut input, mut output) =
        unsafe { (std::fs::File::from_raw_fd(3), std::fs::File::from_raw_fd(4)) };
    input.read_to_end(&mut token).unwrap();
    output.write_all(&token).unwrap();
}
