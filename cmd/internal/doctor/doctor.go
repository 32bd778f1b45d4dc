//go:build unix

// Package doctor implements the verb doctor: it diagnoses problems of an instance and suggests fixes. checks is the
// table: a row has a name and a function that returns a finding. Damaged histories are checked, and repaired on
// request, without the daemon. Nothing is started.
package doctor

import (
	"cmp"
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

// finding is the result of a check, with a remedy if there is a problem.
type finding struct {
	Check  string `json:"check"`
	Level  string `json:"level"` // ok, warn, fail
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// Doctor examines an instance. It starts no daemon.
type Doctor struct {
	*output.Printer
	Dirs    paths.Dirs
	Quiet   *client.Client // client that never starts a daemon
	Version func() string
}

// Examine runs all checks and prints their findings. A failed check makes the exit status 1.
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

// checks lists the checks in the order of the report.
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
	{"left", checkLeftovers},
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
	var failed []string
	next := ""
	for _, f := range found {
		count[f.Level]++
		if f.Level == "fail" {
			failed = append(failed, f.Check)
			next = cmp.Or(next, f.Remedy)
		}
	}
	switch {
	case count["fail"] > 0:
		text := fmt.Sprintf("not in order: %s failed, %s: %s", output.CountNoun(count["fail"], "check", "checks"),
			output.CountNoun(count["warn"], "warning", "warnings"), strings.Join(failed, ", "))
		if next != "" {
			text += "; next: " + next
		}
		return text
	case count["warn"] > 0:
		return "in order, with " + output.CountNoun(count["warn"], "warning", "warnings")
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

// checkState also detects a state directory that was removed under a running daemon, whose open files then have no
// name.
func checkState(_ context.Context, d *Doctor) finding {
	_, err := os.Stat(d.Dirs.Database())
	if os.IsNotExist(err) && processes.AnyDaemon(d.Dirs) {
		return fail("run `longterm daemon restart`; sessions keep running, without their earlier output",
			"%s: removed while the daemon runs; output is not stored", d.Dirs.State)
	}
	return checkDir(d.Dirs.State)
}

func checkDir(dir string) finding {
	st, err := os.Stat(dir)
	if os.IsNotExist(err) {
		return ok("%s: not created yet", dir)
	}
	if err != nil {
		return fail("make it accessible, or set LONGTERM_DIR", "%v", err)
	}
	if sys, is := st.Sys().(*syscall.Stat_t); is && int(sys.Uid) != os.Getuid() {
		return fail("set LONGTERM_DIR to a directory of yours", "%s belongs to uid %d", dir, sys.Uid)
	}
	if st.Mode().Perm()&0o077 != 0 {
		return fail("chmod 700 "+dir, "%s: accessible to other users (mode %o)", dir, st.Mode().Perm())
	}
	probe := filepath.Join(dir, ".doctor")
	if err := os.WriteFile(probe, []byte("ok"), 0o600); err != nil {
		return fail("make it writable, or free disk space", "%v", err)
	}
	_ = os.Remove(probe)
	return ok("%s: private and writable", dir)
}

func checkDisk(_ context.Context, d *Doctor) finding {
	free, err := freeBytes(d.Dirs.State)
	if err != nil {
		return ok("nothing stored yet")
	}
	if free < 256<<20 {
		return warn("free disk space; otherwise histories get gaps", "%d MiB are free for history", free>>20)
	}
	return ok("%d MiB are free for history", free>>20)
}

func checkDaemon(ctx context.Context, d *Doctor) finding {
	st, err := d.Quiet.Status(ctx)
	switch {
	case err == nil && len(st.Notices) > 0:
		return warn("see "+d.Dirs.DaemonLog(), "daemon %d is running, after repairs: %s", st.DaemonPID, strings.Join(st.Notices, "; "))
	case err == nil:
		return ok("daemon %d serves, keeper %d holds %d sessions, restarted %s", st.DaemonPID, st.KeeperPID, st.Running, output.CountNoun(st.Restarts, "time", "times"))
	case processes.AnyKeeper(d.Dirs):
		return fail("run `longterm daemon start`; if it fails see "+d.Dirs.DaemonLog()+" and "+d.Dirs.KeeperLog(),
			"a keeper holds sessions but no daemon serves: %v", processes.WithKeeper(ctx, err, d.Dirs, d.Version))
	}
	return ok("not running; starts when needed")
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
			return warn("run `longterm daemon upgrade`; sessions keep running", "keeper %s runs %s, the daemon %s", k.Key, k.Build, st.Build)
		}
	}
	return ok("daemon, keepers and this program: %s", st.Build)
}

func checkHistory(ctx context.Context, d *Doctor) finding {
	list, err := d.Quiet.List(ctx)
	if err != nil {
		return ok("daemon not running")
	}
	for _, s := range list {
		if s.Quarantine != "" {
			return fail("read its output with `longterm output`; retry with `longterm daemon restart`", "%s is quarantined: %s", s.Name, s.Quarantine)
		}
		if s.History != "" {
			return fail("free disk space or make the directory writable; writing resumes automatically", "history of %s: not written (%s)", s.Name, s.History)
		}
	}
	return ok("history of %d sessions is written", len(list))
}

// checkLeftovers checks for leftover processes of ended sessions.
func checkLeftovers(ctx context.Context, d *Doctor) finding {
	list, err := d.Quiet.List(ctx)
	if err != nil {
		return ok("daemon not running")
	}
	for _, s := range list {
		if len(s.LeftoverPIDs) > 0 {
			return warn("end them with `longterm kill "+s.Name+"`", "%s has ended, with leftover processes: %s", s.Name, strings.Trim(fmt.Sprint(s.LeftoverPIDs), "[]"))
		}
	}
	return ok("no leftover processes")
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

// Descriptors that a daemon has open. A keeper has fewer.
const (
	baseDescriptors    = 23  // without sessions: databases, logs, locks, sockets
	spareDescriptors   = 16  // kept free for clients: no session is started in them
	sessionDescriptors = 2   // its terminal and its ring
	segmentDescriptors = 256 // plus the history segment being written, up to this limit
)

// sessionsWithin returns the number of sessions that fit into a limit of open files.
func sessionsWithin(files uint64) uint64 {
	if files < baseDescriptors+spareDescriptors {
		return 0
	}
	room := files - baseDescriptors - spareDescriptors
	before := room / (sessionDescriptors + 1) // that run when the last is started
	if before >= segmentDescriptors {
		before = (room - segmentDescriptors) / sessionDescriptors
	}
	return before + 1
}

// checkLinger checks whether systemd lingering is enabled. Without it, systemd ends the user's manager, and with it
// every scope, when the last login ends.
func checkLinger(ctx context.Context, _ *Doctor) finding {
	return linger(ctx, "/run/systemd/system")
}

// linger is checkLinger with the directory whose existence shows that systemd runs (sd_booted(3)).
func linger(ctx context.Context, booted string) finding {
	if _, err := os.Stat(booted); err != nil {
		return ok("no systemd: sessions outlive a logout")
	}
	out, err := exec.CommandContext(ctx, "loginctl", "show-user", fmt.Sprint(os.Getuid()), "--property=Linger", "--value").Output()
	if err != nil {
		return warn("", "lingering unknown: %v", err)
	}
	if strings.TrimSpace(string(out)) != "yes" {
		return warn("run `loginctl enable-linger`", "lingering is off: sessions may end when you log out")
	}
	return ok("lingering is on: sessions outlive a logout")
}
