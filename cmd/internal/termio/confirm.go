package termio

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Confirm prints a question and reports whether the user answers yes. Anything else counts as no, an incomplete line too.
func Confirm(in io.Reader, out io.Writer, question string) bool {
	fmt.Fprintf(out, "%s [y/N] ", question)
	line, err := bufio.NewReader(in).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return err == nil && (answer == "y" || answer == "yes")
}
