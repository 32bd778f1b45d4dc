package topics

import (
	"cmp"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/longterm-dev/longterm/cmd/internal/termio"
)

// Print prints before and the topic's page to w. If w is a terminal, it uses the pager, as git does.
func (t Topic) Print(w io.Writer, before string) error {
	width := termio.Width(w)
	page, err := t.Page(min(cmp.Or(width, 80), 100), width > 0 && os.Getenv("NO_COLOR") == "")
	if err != nil {
		return err
	}
	if width > 0 && showByPager(before+page) {
		return nil
	}
	_, err = io.WriteString(w, before+page)
	return err
}

// showByPager shows text by $PAGER or less. It reports whether the pager started.
func showByPager(text string) bool {
	pager := cmp.Or(strings.TrimSpace(os.Getenv("PAGER")), "less")
	if _, err := exec.LookPath(strings.Fields(pager)[0]); err != nil {
		return false
	}
	c := exec.Command("/bin/sh", "-c", "exec "+pager)
	if os.Getenv("LESS") == "" {
		c.Env = append(os.Environ(), "LESS=FRX") // ends at once if the text fits; shows bold words
	}
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(text), os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		return false
	}
	_ = c.Wait() // a pager that the user quits early is no failure
	return true
}
