package remote

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// network fakes two machines with a wire between them: longterm here runs on the first, the ssh server of the host on
// the second.
type network struct {
	pid string // process of the first machine's network namespace
	say io.Writer
}

const ownAddress, otherAddress, serverAddress = "10.9.0.1", "10.9.0.2", "10.9.0.9"

// joined makes the host reachable over a separate network, by TCP.
func (h *host) joined(t *testing.T) *network {
	t.Helper()
	tier.Need(t, "ip", "unshare", "nsenter")
	h.write(t, "sshd_config", h.read(t, "sshd_config")+"ListenAddress "+serverAddress+"\nPort 2222\n")
	h.write(t, "ssh_config", fmt.Sprintf(`Host far
HostName %s
Port 2222
HostKeyAlias far
IdentityFile %[2]s/id
IdentitiesOnly yes
UserKnownHostsFile %[2]s/known
GlobalKnownHostsFile /dev/null
`, serverAddress, h.dir))
	h.write(t, "server", h.serve("-D")+"\n")
	h.write(t, "network", fmt.Sprintf(`set -e
ip link set lo up
unshare -n sh -c 'echo up >%[1]s/second; until [ -e %[1]s/wired ]; do sleep 0.05; done
	ip link set lo up; ip addr add %[3]s/24 dev ltb; ip link set ltb up; . %[1]s/server' </dev/null >/dev/null 2>&1 &
second=$!
until [ -e %[1]s/second ]; do sleep 0.05; done
net=$(readlink /proc/$second/ns/net)
# Those of connections that were cut hold on for a quarter of an hour.
trap 'for p in /proc/[0-9]*; do case $(cat $p/comm 2>&1) in sshd*) [ "$(readlink $p/ns/net)" = "$net" ] && kill -9 ${p#/proc/};; esac; done' EXIT
ip link add lta type veth peer name ltb netns $second
ip addr add %[2]s/24 dev lta
ip link set lta up
: >%[1]s/wired
echo $$
while read -r what; do eval "$what"; echo done; done
`, h.dir, ownAddress, serverAddress))
	flags := "-n"
	if os.Getuid() != 0 {
		flags = "-Urn"
	}
	cmd := exec.Command("unshare", flags, "sh", filepath.Join(h.dir, "network"))
	in, err := cmd.StdinPipe()
	h.make(t, err)
	out, err := cmd.StdoutPipe()
	h.make(t, err)
	cmd.Stderr = os.Stderr
	h.make(t, cmd.Start())
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	said := bufio.NewReader(out)
	line, err := said.ReadString('\n')
	if err != nil {
		t.Fatalf("there is no network: %v", err)
	}
	n := &network{pid: strings.TrimSpace(line)}
	n.say = writerFunc(func(b []byte) (int, error) {
		if _, err := in.Write(b); err != nil {
			return 0, err
		}
		_, err := said.ReadString('\n')
		return len(b), err
	})
	return n
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// does runs a command on the first machine.
func (n *network) does(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(n.say, line+"\n"); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
}

// on returns a command that runs on the first machine.
func (n *network) on(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	enter, err := exec.LookPath("nsenter")
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"nsenter", "-n"}
	if os.Getuid() != 0 {
		flags = append(flags, "-U", "--preserve-credentials")
	}
	cmd.Args = append(append(flags, "-t", n.pid, cmd.Path), cmd.Args[1:]...)
	cmd.Path = enter
	return cmd
}

// TestAttachOnTheMove moves a machine with an attached terminal: the network is down for a second, the machine gets
// another address, and then the network is down so long that either end closes the connection. Output and input of
// these times are there once.
//
// FEATURES: R94, R113
func TestAttachOnTheMove(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	n := h.joined(t)
	e2e.Eventually(t, "the host is reached", func() bool {
		return n.on(t, h.here.Command(t.Context(), "-H", "far", "ls")).Run() == nil
	})
	typed := filepath.Join(h.dir, "typed")
	h.Run("new", "-n", "s", "--cols", "60", "--rows", "12", "--", "sh", "-c",
		`n=0; while read line; do echo "$line" >>`+typed+`; for x in 1 2 3 4 5 6 7 8 9 10; do n=$((n+1)); echo "line $n"; done; done`)
	p := newTerminalOf(t, n.on(t, h.here.Command(t.Context(), "attach", "--scrollback", "far/s")))
	lines, keys := 0, 0
	printed := func() { // read on the host itself, to show that it continues without us
		t.Helper()
		lines += 10
		h.Run("send", "s", "there\n")
		h.Run("wait", "s", "--for", fmt.Sprintf("text=line %d", lines))
	}
	types := func() {
		t.Helper()
		lines, keys = lines+10, keys+1
		p.types(t, fmt.Sprintf("typed %d\r", keys))
	}
	types()
	p.shows(t, "line 10\n")

	n.does(t, "ip link set lta down")
	printed()
	types()
	<-time.After(time.Second)
	n.does(t, "ip link set lta up")
	p.shows(t, fmt.Sprintf("line %d\n", lines))

	n.does(t, "ip addr del "+ownAddress+"/24 dev lta; ip addr add "+otherAddress+"/24 dev lta")
	printed()
	types()
	p.shows(t, fmt.Sprintf("line %d\n", lines))
	if log := h.read(t, "sshd.log"); !strings.Contains(log, "from "+otherAddress) {
		t.Errorf("no connection from the new address:\n%s", log)
	}

	n.does(t, "ip link set lta down")
	printed()
	types()
	e2e.Eventually(t, "either end has closed the connection", func() bool {
		p.mu.Lock()
		here := strings.Contains(p.said.String(), "connection lost")
		p.mu.Unlock()
		return here && strings.TrimSpace(h.Run("clients", "s", "--json")) == "[]"
	})
	lines += 10
	h.Run("send", "s", "there\n")
	n.does(t, "ip link set lta up")
	p.shows(t, fmt.Sprintf("line %d\n", lines))

	if wrong := count(p.text(), "line", lines); len(wrong) > 0 {
		t.Errorf("lines %v\n%s", wrong, p.text())
	}
	if wrong := count(h.read(t, "typed"), "typed", keys); len(wrong) > 0 {
		t.Errorf("typed %v\n%s", wrong, h.read(t, "typed"))
	}
	p.types(t, "\x1cd")
	if err := <-p.done; err != nil {
		t.Errorf("left with %v", err)
	}
	h.make(t, n.on(t, h.here.Command(t.Context(), "hosts", "disconnect", "far")).Run())
}
