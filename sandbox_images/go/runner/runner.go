package main

import (
	"fmt"
	"os"
)

func assert(holds bool, what ...any) {
	if !holds {
		fmt.Fprintln(os.Stderr, append([]any{"assertion failed:"}, what...)...)
		os.Exit(1)
	}
}

func main() {
	check()
	token := make([]byte, 64)
	size, _ := os.NewFile(3, "in").Read(token)
	os.NewFile(4, "out").Write(token[:size])
}
