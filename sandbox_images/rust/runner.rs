mod solution {
@SOLUTION@
pub mod tests {
#[allow(unused_imports)]
use super::*;
@TESTS@
pub fn nel_check() {
    check();
}
}
}
fn main() {
    use std::io::{Read, Write};
    use std::os::unix::io::FromRawFd;
    solution::tests::nel_check();
    let (mut from, mut to) = unsafe { (std::fs::File::from_raw_fd(3), std::fs::File::from_raw_fd(4)) };
    let mut token = String::new();
    from.read_to_string(&mut token).unwrap();
    to.write_all(token.as_bytes()).unwrap();
    std::process::exit(0);
}
