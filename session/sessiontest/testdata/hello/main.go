// Command hello is built by a test.
package main

import (
	"fmt"
	"os"
)

func main() { fmt.Printf("Hello, %s\n", os.Args[1]) }
