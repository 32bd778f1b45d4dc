//go:build unix

package request

import (
	"fmt"
	"io"
	"os"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
)

// Input holds the source of files that verbs read, and the writer for their mistakes.
type Input struct {
	Stdin  *os.File
	Stderr io.Writer
}

// maxPaste is the largest text to paste, in bytes.
const maxPaste = 16 << 20

// Read returns the contents of the first file in args, or of standard input if args is empty or names -.
func (in Input) Read(args []string) ([]byte, error) {
	f := in.Stdin
	if len(args) > 0 && args[0] != "-" {
		var err error
		if f, err = os.Open(args[0]); err != nil {
			return nil, exit.Usage(err)
		}
		defer f.Close()
	}
	b, err := io.ReadAll(io.LimitReader(f, maxPaste+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxPaste {
		return nil, fmt.Errorf("more than %d MiB to paste; paste it in parts", maxPaste>>20)
	}
	return b, nil
}
