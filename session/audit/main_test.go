package audit

import (
	"bufio"
	"fmt"
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

// appendForever is set for a process that is killed while it writes.
const appendForever = "LONGTERM_TEST_AUDIT_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(appendForever); dir != "" {
		writeUntilKilled(dir)
	}
	os.Exit(isolate.Run(m))
}

// writeUntilKilled appends records, and prints the number of each acknowledged one.
func writeUntilKilled(dir string) {
	l, err := Open(Options{Dir: dir, SegmentBytes: 4000})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	out := bufio.NewWriter(os.Stdout)
	for i := 0; ; i++ {
		seq, err := l.Append(Record{Kind: Line, Line: fmt.Sprint("echo ", i)})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Fprintln(out, seq)
		_ = out.Flush() // the reader kills
	}
}
