//go:build ignore

// Command gen writes docs/sequences.md from the tables of control functions and modes:
// it runs the test that renders them with the page as its golden file.
package main

import (
	"log"
	"os"
	"os/exec"
)

func main() {
	cmd := exec.Command("go", "test", "-run", "^TestSequencesPage$", ".", "-update")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		log.Fatal(err)
	}
}
