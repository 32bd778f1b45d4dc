//go:build unix

// Package doctor says what is wrong with an instance and what to do about it. checks is the table: a row has a
// name and a function that finds how one thing stands. Damaged histories are read, and repaired when that is asked
// for, without the daemon's help. It starts nothing.
package doctor

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/processes"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys"
)

// finding is what a check found: what is so, and if it is not well, what to do.
type finding struct {
	Check  string `json:"check"`
	Level  string `json:"level"` // ok, warn, fail
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// Doctor examines an instance. It starts nothing.
type Doctor struct {
	*output.Printer
	Dirs    paths.Dirs
	Quiet   *client.Client // starts no daemon
	Version func() string
}

// Examine prints what each check finds; a failed one makes the exit status 1.
func (d *Doctor) Examine(ctx context.Context) error {
	var found []finding
	failed := 0
	for _, c := range checks {
		f := c.run(ctx, d)
		f.Check = c.name
		found = append(found, f)
		if f.Level == "fail" {
			failed++
		}
	}
	if err := d.Print(found, func(w io.Writer) { writeFindings(w, found) }); err != nil {
		return err
	}
	if failed > 0 {
		return exit.Silent(1)
	}
	return nil
}

// checks are what doctor looks at, in order.
var checks = []struct {
	name string
	run  func(context.Context, *Doctor) finding
}{
	{"state directory", checkState},
	{"runtime directory", func(_ context.Context, d *Doctor) finding { return checkDir(d.Dirs.Run) }},
	{"configuration", checkConfiguration},
	{"rules", checkRules},
	{"hooks", checkHooks},
	{"disk", checkDisk},
	{"daemon", checkDaemon},
	{"notices", checkNotices},
	{"version", checkVersion},
	{"history", checkHistory},
	{"audit", checkAudit},
	{"left", checkLeft},
	{"executions", checkExecutions},
	{"sandbox", checkSandbox},
	{"tokens", checkTokens},
	{"http", checkHTTP},
	{"mcp", checkMCP},
	{"integrations", checkIntegrations},
	{"descriptors", checkDescriptors},
	{"logout", checkLinger},
}

func writeFindings(w io.Writer, found []finding) {
	marks := map[string]string{"ok": "✓", "warn": "!", "fail": "✗"}
	for _, f := range found {
		fmt.Fprintf(w, "%s %s: %s\n", marks[f.Level], f.Check, f.Text)
		if f.Remedy != "" {
			fmt.Fprintf(w, "    → %s\n", f.Remedy)
		}
	}
	fmt.Fprintln(w, summarize(found))
}

// summarize returns the result of all checks as one line.
func summarize(found []finding) string {
	count := map[string]int{}
	for _, f := range found {
		count[f.Level]++
	}
	switch {
	case count["fail"] > 0:
		return fmt.Sprintf("not in order: %s failed, %s", output.HowMany(count["fail"], "check", "checks"), output.HowMany(count["warn"], "warning", "warnings"))
	case count["warn"] > 0:
		return "in order, with " + output.HowMany(count["warn"], "warning", "warnings")
	}
	return fmt.Sprintf("in order: all %d checks passed", len(found))
}

func ok(format string, args ...any) finding {
	return finding{Level: "ok", Text: fmt.Sprintf(format, args...)}
}

func warn(remedy, format string, args ...any) finding {
	return finding{Level: "warn", Text: fmt.Sprintf(format, args...), Remedy: remedy}
}

func fail(remedy, format string, args ...any) finding {
	return finding{Level: "fail", Text: fmt.Sprintf(format, args...), Remedy: remedy}
}

// checkState also finds a state directory that was removed under a daemon, which goes on with
// files that have no name any more.
func checkState(_ context.Context, d *Doctor) finding {
	_, err := os.Stat(d.Dirs.Database())
	if os.IsNotExist(err) && processes.AnyDaemon(d.Dirs) {
		return fail("run `longterm daemon restart`: sessions go on, without what they printed before",
			"%s was removed while the daemon runs: what sessions print is kept no more", d.Dirs.State)
	}
	return checkDir(d.Dirs.State)
}

func checkDir(dir string) finding {
	st, err := os.Stat(dir)
	if os.IsNotExist(err) {
		return ok("%s does not exist yet; it is made on first use", dir)
	}
	if err != nil {
		return fail("make it reachable, or set LONGTERM_DIR", "%v", err)
	}
	if sys, is := st.Sys().(*syscall.Stat_t); is && int(sys.Uid) != os.Getuid() {
		return fail("set LONGTERM_DIR to a directory of yours", "%s belongs to uid %d", dir, sys.Uid)
	}
	if st.Mode().Perm()&0o077 != 0 {
		return fail("chmod 700 "+dir, "%s can be entered by others (mode %o)", dir, st.Mode().Perm())
	}
	probe := filepath.Join(dir, ".doctor")
	if err := os.WriteFile(probe, []byte("ok"), 0o600); err != nil {
		return fail("make it writable, or make room", "%v", err)
	}
	_ = os.Remove(probe)
	return ok("%s is ours alone and writable", dir)
}

func checkDisk(_ context.Context, d *Doctor) finding {
	free, err := freeBytes(d.Dirs.State)
	if err != nil {
		return ok("nothing is stored yet")
	}
	if free < 256<<20 {
		return warn("make room: without it sessions go on, but their history has gaps", "%d MiB are free for history", free>>20)
	}
	return ok("%d MiB are free for history", free>>20)
}

func checkDaemon(ctx context.Context, d *Doctor) finding {
	st, err := d.Quiet.Status(ctx)
	switch {
	case err == nil && len(st.Notices) > 0:
		return warn("look at "+d.Dirs.DaemonLog(), "daemon %d is running, after repairs: %s", st.DaemonPID, strings.Join(st.Notices, "; "))
	case err == nil:
		return ok("daemon %d serves, keeper %d holds %d sessions, restarted %s", st.DaemonPID, st.KeeperPID, st.Running, output.HowMany(st.Restarts, "time", "times"))
	case processes.AnyKeeper(d.Dirs):
		return fail("run `longterm daemon start`; if it fails look at "+d.Dirs.DaemonLog()+" and "+d.Dirs.KeeperLog(),
			"a keeper holds sessions but no daemon serves: %v", processes.WithKeeper(ctx, err, d.Dirs, d.Version))
	}
	return ok("nothing runs; it starts when needed")
}

func checkVersion(ctx context.Context, d *Doctor) finding {
	st, err := d.Quiet.Status(ctx)
	if err != nil {
		return ok("this is %s", d.Version())
	}
	if st.Build != d.Version() {
		return differs(d.Version(), st.Build)
	}
	for _, k := range st.Keepers {
		if k.Build != st.Build {
			return warn("run `longterm daemon upgrade`; sessions go on", "keeper %s runs %s, the daemon %s", k.Key, k.Build, st.Build)
		}
	}
	return ok("daemon and keepers run %s, as this is", st.Build)
}

func checkHistory(ctx context.Context, d *Doctor) finding {
	list, err := d.Quiet.List(ctx)
	if err != nil {
		return ok("no daemon to ask")
	}
	for _, s := range list {
		if s.Quarantine != "" {
			return fail("its output is kept and can be read (`longterm output`); `longterm daemon restart` tries again", "%s is quarantined: %s", s.Name, s.Quarantine)
		}
		if s.History != "" {
			return fail("make room or make the directory writable; it goes on by itself then", "history of %s is not being written: %s", s.Name, s.History)
		}
	}
	return ok("history of %d sessions is kept", len(list))
}

func checkLeft(ctx context.Context, d *Doctor) finding {
	list, err := d.Quiet.List(ctx)
	if err != nil {
		return ok("no daemon to ask")
	}
	for _, s := range list {
		if len(s.Left) > 0 {
			return warn("end them with `longterm kill "+s.Name+"`, if they are not wanted", "%s has ended, and processes it started run on: %s", s.Name, strings.Trim(fmt.Sprint(s.Left), "[]"))
		}
	}
	return ok("no ended session left processes behind")
}

func checkDescriptors(context.Context, *Doctor) finding {
	_, most, err := sys.DescriptorLimit()
	if err != nil {
		return warn("", "limit of open files: %v", err)
	}
	sessions := sessionsWithin(most)
	if sessions < 500 {
		return warn("raise the hard limit of open files (ulimit -Hn), then `longterm daemon upgrade`", "%d open files allow about %d sessions", most, sessions)
	}
	return ok("%d open files allow about %d sessions", most, sessions)
}

// What a daemon has open, which is more than a keeper has.
const (
	openAtRest   = 23  // without sessions: databases, logs, locks, sockets
	openSpare    = 16  // kept free for clients: no session is started in them
	openASession = 2   // its terminal and its ring
	openSegments = 256 // and the segment that its history is written to, of so many at most
)

// sessionsWithin is how many sessions a daemon starts that may have so many files open.
func sessionsWithin(files uint64) uint64 {
	if files < openAtRest+openSpare {
		return 0
	}
	room := files - openAtRest - openSpare
	before := room / (openASession + 1) // that run when the last is started
	if before >= openSegments {
		before = (room - openSegments) / openASession
	}
	return before + 1
}

// checkLinger: without lingering systemd ends the user's manager, and with it every
// scope, when the last login ends.
func checkLinger(ctx context.Context, _ *Doctor) finding {
	return linger(ctx, "/run/systemd/system")
}

// linger is checkLinger with the directory that is there where systemd runs the machine: sd_booted(3).
func linger(ctx context.Context, booted string) finding {
	if _, err := os.Stat(booted); err != nil {
		return ok("no systemd: sessions outlive a logout")
	}
	out, err := exec.CommandContext(ctx, "loginctl", "show-user", fmt.Sprint(os.Getuid()), "--property=Linger", "--value").Output()
	if err != nil {
		return warn("", "lingering is unknown: %v", err)
	}
	if strings.TrimSpace(string(out)) != "yes" {
		return warn("run `loginctl enable-linger`", "lingering is off: sessions may end when you log out")
	}
	return ok("lingering is on: sessions outlive a logout")
}
