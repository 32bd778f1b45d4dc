//go:build unix

// Package remote tests remote hosts: the product on both ends of real ssh connections, to an sshd that each connection
// starts itself, with separate keys and homes.
package remote

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/session/sys"
)

func TestMain(m *testing.M) { os.Exit(isolate.Run(m)) }

// host fakes another machine: it is reached by ssh under the name far, and has a separate home, instance and path.
type host struct {
	*e2e.Instance // there
	here          *e2e.Instance
	dir, home     string
	gone          int // process whose connection was cut last
}

// newHost makes one, with longterm on its path or without.
func newHost(t *testing.T, longterm bool) *host {
	t.Helper()
	tier.Need(t, "ssh", "ssh-keygen")
	if _, err := os.Stat("/usr/sbin/sshd"); err != nil {
		t.Skip("no server: ", err)
	}
	dir, err := os.MkdirTemp("", "lt")
	if err != nil {
		t.Fatal(err)
	}
	h := &host{dir: dir, home: filepath.Join(dir, "home")}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	bin := filepath.Join(dir, "bin")
	h.make(t, os.Mkdir(h.home, 0o700), os.Mkdir(bin, 0o755))
	h.Instance, h.here = e2e.New(t), e2e.New(t)
	if longterm {
		h.make(t, os.Symlink(h.Exe, filepath.Join(bin, "longterm")))
	}
	for _, key := range []string{"id", "hostkey"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	h.write(t, "authorized", h.read(t, "id.pub"))
	h.write(t, "known", "far "+h.read(t, "hostkey.pub"))
	h.write(t, "sshd_config", fmt.Sprintf(`HostKey %[1]s/hostkey
AuthorizedKeysFile %[1]s/authorized
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
PidFile none
SetEnv HOME=%[2]s LONGTERM_DIR=%[3]s PATH=%[4]s:/usr/bin:/bin SHELL=/bin/sh PS1=there>
`, dir, h.home, h.Dir, bin))
	serve := h.serve("-i")
	h.write(t, "proxy", "#!/bin/sh\n[ -e "+dir+"/down ] && exit 1\necho $$ >"+dir+"/pid.new && mv "+dir+"/pid.new "+dir+"/pid\n"+serve+"\n")
	h.make(t, os.Chmod(filepath.Join(dir, "proxy"), 0o755))
	h.write(t, "ssh_config", fmt.Sprintf(`Host far
HostKeyAlias far
IdentityFile %[1]s/id
IdentitiesOnly yes
UserKnownHostsFile %[1]s/known
GlobalKnownHostsFile /dev/null
ProxyCommand %[1]s/proxy
Host closed
ProxyCommand false
`, dir))
	h.here.Env = append(h.here.Env, "LONGTERM_SSH=ssh -F "+filepath.Join(dir, "ssh_config"), "HOME="+h.home)
	h.Env = append(h.Env, "HOME="+h.home)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if out, err := h.here.Command(ctx, "hosts", "disconnect", "far").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(dir, "sshd.log"))
			t.Logf("sshd: %s", e2e.Tail(log, 2000))
		}
	})
	return h
}

// serve is a command line of its server with more flags.
func (h *host) serve(flags string) string {
	serve := "exec /usr/sbin/sshd " + flags + " -f " + h.dir + "/sshd_config -E " + h.dir + "/sshd.log"
	if _, err := os.Stat("/run/sshd"); err != nil && os.Getuid() == 0 { // the directory that sshd needs as root: in a separate file system
		serve = "exec unshare -m sh -c 'mount -t tmpfs none /run && mkdir /run/sshd && " + serve + "'"
	}
	return serve
}

func (h *host) make(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (h *host) write(t *testing.T, name, text string) {
	t.Helper()
	h.make(t, os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600))
}

func (h *host) read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(h.dir, name))
	h.make(t, err)
	return string(b)
}

// server is the process of the newest connection, waited for where the last one was cut.
func (h *host) server(t *testing.T) (pid int) {
	t.Helper()
	e2e.Eventually(t, "a connection exists", func() bool {
		var err error
		pid, err = strconv.Atoi(strings.TrimSpace(h.read(t, "pid")))
		h.make(t, err)
		return pid != h.gone
	})
	return pid
}

// cut ends the newest connection as an unplugged cable does: only a program that writes to it notices.
func (h *host) cut(t *testing.T) {
	t.Helper()
	pid := h.server(t)
	h.make(t, syscall.Kill(pid, syscall.SIGKILL))
	h.gone = pid
}

// down makes the host unreachable, or reachable again.
func (h *host) down(t *testing.T, is bool) {
	t.Helper()
	if !is {
		h.make(t, os.Remove(filepath.Join(h.dir, "down")))
		return
	}
	h.write(t, "down", "")
}

// hasBridge reports whether the host's end of a connection runs.
func (h *host) hasBridge() bool {
	return slices.ContainsFunc(e2e.Processes(h.Dir), func(pid int) bool {
		argv, err := sys.Cmdline(pid)
		return err == nil && slices.Contains(argv, "bridge")
	})
}
