//go:build unix

package terminals

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/vterm"
)

// named is the test binary under the name longterm, by which it is the program.
func named(i *e2e.Instance) string {
	i.T.Helper()
	link := filepath.Join(i.Dir, "longterm")
	if err := os.Symlink(i.Exe, link); err != nil && !os.IsExist(err) {
		i.T.Fatal(err)
	}
	return link
}

// shown is a terminal that runs a line; text returns its screen.
type shown struct {
	name string
	text func() string
}

// judges run a shell line in xterm and in tmux, as far as they are installed, and in the emulator: longterm's output
// for users must look the same in all. The line has longterm in its PATH, and $JUDGE is unique for each run.
func judges(t *testing.T, i *e2e.Instance, cols, rows int, line string) []shown {
	t.Helper()
	i.Env = append(i.Env, "TERM=xterm-256color", "LC_ALL=C.UTF-8", "COLORTERM=", "COLORFGBG=", "HOME="+i.Dir, "PATH="+i.Dir+":"+os.Getenv("PATH"))
	named(i)
	line += "; echo STATUS=$?; exec sleep 1000"
	list := []shown{inEmulator(t, i, cols, rows, "JUDGE=emulator; "+line)}
	if _, err := exec.LookPath("tmux"); err == nil {
		o := newOuterLine(t, i, cols, rows, "JUDGE=tmux; "+strings.TrimSuffix(line, "; echo STATUS=$?; exec sleep 1000"))
		list = append(list, shown{"tmux", o.text})
	}
	if x, ok := inXterm(t, i, cols, rows, "JUDGE=xterm; "+line); ok {
		list = append(list, x)
	}
	if len(list) == 1 {
		t.Skip("needs xterm and Xvfb, or tmux")
	}
	return list
}

// inEmulator runs a line on a PTY that vterm is behind.
func inEmulator(t *testing.T, i *e2e.Instance, cols, rows int, line string) shown {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Env, cmd.Dir = i.Env, "/"
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	if err != nil {
		t.Fatal(err)
	}
	term := vterm.New(vterm.Options{Cols: cols, Rows: rows})
	var mu sync.Mutex
	done := make(chan struct{})
	go func() {
		defer close(done)
		for buf := make([]byte, 4096); ; {
			n, err := f.Read(buf)
			mu.Lock()
			_, _ = term.Write(buf[:n])
			answers := term.Replies(nil)
			mu.Unlock()
			if err == nil {
				_, err = f.Write(answers)
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the line leads a separate session
		_ = cmd.Wait()
		_ = f.Close()
		<-done
	})
	return shown{"the emulator", func() string {
		mu.Lock()
		defer mu.Unlock()
		var frame vterm.Frame
		var screen render.Screen
		term.Frame(&frame, vterm.Query{})
		render.FromFrame(&screen, &frame)
		return string(render.Text(nil, &screen, render.TextOptions{}))
	}}
}

// inXterm runs a line in an xterm of a separate display. Its screen is what it prints (xterm ctlseqs, "MC") to a
// printer, which is a file, when the sequence for it is written to its terminal.
func inXterm(t *testing.T, i *e2e.Instance, cols, rows int, line string) (s shown, ok bool) {
	t.Helper()
	for _, name := range []string{"xterm", "Xvfb"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("%s is not installed", name)
			return shown{}, false
		}
	}
	display := newDisplay(t)
	tty, page := filepath.Join(i.Dir, "tty"), filepath.Join(i.Dir, "page")
	cmd := exec.Command("xterm", "-geometry", fmt.Sprintf("%dx%d", cols, rows), "-fn", "fixed", "-u8", "-tn", "xterm-256color",
		"-xrm", "XTerm*printerCommand: cat >"+page+".new && mv "+page+".new "+page, "-xrm", "XTerm*printerAutoClose: true",
		"-xrm", "XTerm*printAttributes: 0", "-e", "/bin/sh", "-c", "tty >"+tty+".new; mv "+tty+".new "+tty+"; "+line)
	cmd.Env, cmd.Dir = append(i.Env[:len(i.Env):len(i.Env)], "DISPLAY="+display), "/"
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-gone
	})
	ready := func(path string) func() bool {
		return func() bool {
			select {
			case <-gone:
				t.Fatalf("xterm ended: %s", complaints.Bytes())
			default:
			}
			_, err := os.Stat(path)
			return err == nil
		}
	}
	return shown{"xterm", func() string {
		e2e.Eventually(t, "xterm runs the line", ready(tty))
		printScreen(t, tty)
		e2e.Eventually(t, "xterm prints its screen", ready(page))
		text, err := os.ReadFile(page)
		if err = errors.Join(err, os.Remove(page)); err != nil {
			t.Fatal(err)
		}
		return string(text)
	}}, true
}

// printScreen makes xterm print its screen, as a program on the terminal whose name is in a file.
func printScreen(t *testing.T, tty string) {
	t.Helper()
	name, err := os.ReadFile(tty)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(strings.TrimSpace(string(name)), os.O_WRONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("\x1b[0i")
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// newDisplay starts an X server on a number that is free.
func newDisplay(t *testing.T) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1600x1200x24", "-nolisten", "tcp")
	cmd.ExtraFiles = []*os.File{w}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it removes its socket and lock
		_ = cmd.Wait()
	})
	number := ""
	for buf := make([]byte, 16); !strings.HasSuffix(number, "\n"); {
		n, err := r.Read(buf)
		if number += string(buf[:n]); err != nil {
			t.Skipf("Xvfb does not start: %v", err)
		}
	}
	return ":" + strings.TrimSpace(number)
}

// changing matches what differs from run to run.
var changing = strings.NewReplacer("emulator", "NAME", "tmux", "NAME", "xterm", "NAME", "\r", "", "\uffff", "") // xterm prints the second column of a wide character

var times = regexp.MustCompile(`\b[0-9]+(\.[0-9]+)?(ms|s)\b|[0-9]{2}:[0-9]{2}(:[0-9]{2})?`)

// rowsOf are a screen's rows, without blanks at their ends and without empty rows below.
func rowsOf(text string) []string {
	text = times.ReplaceAllString(changing.Replace(text), "T")
	rows := strings.Split(strings.Trim(text, "\f"), "\n")
	for n := range rows {
		rows[n] = strings.TrimRight(rows[n], " ")
	}
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// agree waits until all terminals show until and then the same, which is returned.
func agree(t *testing.T, list []shown, until ...string) string {
	t.Helper()
	defer func() {
		for n := range list {
			if t.Failed() {
				t.Logf("%s shows:\n%s\n", list[n].name, strings.Join(rowsOf(list[n].text()), "\n"))
			}
		}
	}()
	first := ""
	e2e.Eventually(t, "all terminals show the same, and "+strings.Join(until, ", "), func() bool {
		for n := range list {
			screen := strings.Join(rowsOf(list[n].text()), "\n")
			for _, u := range until {
				if !strings.Contains(screen, u) {
					return false
				}
			}
			if n == 0 {
				first = screen
			} else if screen != first {
				return false
			}
		}
		return true
	})
	return first
}

// TestWatchInRealTerminals checks that the output of a watched command stays, however the terminal handles leaving an
// alternate screen that is not shown, and on whichever screen the command ends.
//
// FAULT: B16
func TestWatchInRealTerminals(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	for _, tt := range []struct{ name, line, want string }{
		{"plain", "longterm watch --runs 1 -- seq 5", "── run 1: seq 5\n1\n2\n3\n4\n5\n\n── ✓ done in T\nSTATUS=0"},
		{"after a full-screen program", `printf '\033[?1049hA\033[?1049l'; seq 3; longterm watch --runs 1 -- seq 5`,
			"1\n2\n3\n── run 1: seq 5\n1\n2\n3\n4\n5\n\n── ✓ done in T\nSTATUS=0"},
		{"a full-screen program that does not leave", `longterm watch --runs 1 -- sh -c 'seq 3; printf "\033[?1049h\033[5;5Hleft"'`, "2\n3\n\n── ✓ done in T\nSTATUS=0"},
		{"a program on the other alternate screen", `longterm watch --runs 1 -- sh -c 'seq 3; printf "\033[?47h\033[5;5Hleft"'`, "── ✓ done in T\nSTATUS=0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := judges(t, e2e.New(t), 80, 20, "cd "+t.TempDir()+"; "+tt.line)
			if got := agree(t, list, "STATUS="); !strings.Contains(got, tt.want) {
				t.Errorf("the screen is\n%s\nand lacks\n%s", got, tt.want)
			}
		})
	}
}

// TestGivenBackInRealTerminals checks that output after longterm is below longterm's own, on the primary screen.
//
// FAULT: B16
// FEATURES: R1, R75
func TestGivenBackInRealTerminals(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	const left = `sh -c 'seq 3; printf "\033[?1049h\033[5;5Hleft"'`
	for _, tt := range []struct{ name, line, want string }{
		{"run", "longterm run -- seq 3", "1\n2\n3\nSTATUS=0"},
		{"run of a progress bar", `longterm run -- printf '10%%\r50%%\r100%%\ndone\n'`, "100%\ndone\nSTATUS=0"},
		{"run of a program that stays on the alternate screen", "seq 2; longterm run -- " + left, "1\n2\n1\n2\n3\nSTATUS=0"},
		{"the same, where another program was before", `printf '\033[?1049hA\033[?1049l'; seq 2; longterm run -- ` + left, "1\n2\n1\n2\n3\nSTATUS=0"},
		{"run of a program that saved the cursor", `longterm run -- printf '\0337a\nb\nc\n'`, "a\nb\nc\nSTATUS=0"},
		{"attach", "seq 3; longterm new -n $JUDGE -- sh -c 'echo hello; until [ \"$(stty size)\" = \"20 80\" ]; do sleep 0.02; done; sleep 0.3' >id; longterm attach $JUDGE",
			"1\n2\n3\n[attached to NAME; C-\\ d detaches, the session keeps running]\n[NAME exited with 0]\nSTATUS=0"},
		{"attach to a full-screen program", `seq 3; longterm new -n $JUDGE -- sh -c 'printf "\033[?1049h\033[5;5Hhello"; until [ "$(stty size)" = "20 80" ]; do sleep 0.02; done; sleep 0.3' >id; longterm attach $JUDGE`,
			"1\n2\n3\n[attached to NAME; C-\\ d detaches, the session keeps running]\n[NAME exited with 0]\nSTATUS=0"},
		{"attach on the primary screen", // the program ends once it has the terminal's size, so while it is attached
			`longterm new -n $JUDGE -- sh -c 'seq 30; until [ "$(stty size)" = "20 80" ]; do sleep 0.02; done' >id; longterm attach --scrollback $JUDGE`,
			"29\n30\n\n[NAME exited with 0]\nSTATUS=0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := judges(t, e2e.New(t), 80, 20, "cd "+t.TempDir()+"; "+tt.line)
			if got := agree(t, list, "STATUS="); !strings.Contains(got, tt.want) {
				t.Errorf("the screen is\n%s\nand lacks\n%s", got, tt.want)
			}
		})
	}
}

// TestShownInRealTerminals checks that the viewer and the player look alike in all terminals, and restore the earlier
// screen.
//
// FEATURES: R76, R80
func TestShownInRealTerminals(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	for _, tt := range []struct {
		name, line string
		until      []string
	}{
		{"viewer", "longterm", []string{"I am one", "I am two", "你好 é ✓", "Ctrl-Space"}},
		{"play", "longterm play FILE.cast", []string{"你好 é ✓", "■"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := e2e.New(t)
			for _, name := range []string{"one", "two"} {
				i.Run("new", "-n", name, "--", "sh", "-c", `printf '\033[1;32mI am `+name+`\033[m\n你好 é ✓\n\033[44mblue\033[m'; exec cat`)
				i.Run("wait", name, "--for", "text=blue")
			}
			file := filepath.Join(i.Dir, "one.cast")
			i.Run("export", "one", "-o", file)
			welcomed(t, i)
			pids := filepath.Join(i.Dir, "pid-")
			line := strings.ReplaceAll(tt.line, "FILE.cast", file)
			list := judges(t, i, 100, 24, "seq 3; sh -c 'echo $$ >"+pids+"$0; exec "+line+"' $JUDGE")
			agree(t, list, tt.until...)
			for _, name := range []string{"emulator", "tmux", "xterm"} {
				if text, err := os.ReadFile(pids + name); err == nil {
					pid := 0
					_, _ = fmt.Sscan(string(text), &pid)
					_ = syscall.Kill(pid, syscall.SIGTERM)
				}
			}
			if got := agree(t, list, "STATUS="); !strings.HasPrefix(got, "1\n2\n3\n") {
				t.Errorf("the screen is\n%s", got)
			}
		})
	}
}

// welcomed makes the viewer save a layout: the welcome text is shown only by viewers that start before that.
func welcomed(t *testing.T, i *e2e.Instance) {
	t.Helper()
	link := named(i)
	first := inEmulator(t, i, 100, 24, "TERM=xterm-256color LC_ALL=C.UTF-8 "+link)
	e2e.Eventually(t, "the viewer shows both sessions and has saved a layout", func() bool {
		_, _, code := i.Try("layout", "dump")
		return code == 0 && strings.Contains(first.text(), "I am two")
	})
}
