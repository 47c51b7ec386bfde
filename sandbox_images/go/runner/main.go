package main

import (
	"fmt"
	"os"
)

func assert(holds bool, message ...any) {
	if !holds {
		panic(fmt.Sprintln(append([]any{"assertion failed:"}, message...)...))
	}
}

func main() {
	check()
	token := make([]byte, 64)
	size, err := os.NewFile(3, "in").Read(token)
	if err == nil {
		_, err = os.NewFile(4, "out").Write(token[:size])
	}
	if err != nil {
		panic(err)
	}
	os.Exit(0)
}
