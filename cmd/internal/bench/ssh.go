//go:build unix

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
)

// sshPoint compares the costs of a remote host in longterm with plain ssh, on a network with a delay.
type sshPoint struct {
	Delay        float64 `json:"delay_ms" doc:"added round trip time of the network"`
	Keys         int     `json:"keys" doc:"typed in each way"`
	SSH50        float64 `json:"ssh_key_to_echo_p50_ms"`
	SSH99        float64 `json:"ssh_key_to_echo_p99_ms"`
	Attach50     float64 `json:"attach_key_to_echo_p50_ms"`
	Attach99     float64 `json:"attach_key_to_echo_p99_ms"`
	Ratio        float64 `json:"key_to_echo_ratio" doc:"median of the ratios of medians, round by round"`
	List         float64 `json:"list_ms" doc:"longterm -H HOST ls, over a connection that is there"`
	ListOverhead float64 `json:"list_beside_round_trip_ms" doc:"of that, what is not ssh's key to echo"`
}

func sshCommand(e *Program) *cobra.Command {
	var runs, keys int
	var delays []int
	c := &cobra.Command{
		Use: "ssh", Short: "Compare a host over ssh with plain ssh", Args: cobra.NoArgs,
		Long: "Measure, with a separate sshd, keys and two instances on this machine, the time from a key to its echo on the\n" +
			"terminal: by ssh alone and by longterm attach over ssh, in turn, with predictions off; and the verb ls over an\n" +
			"existing connection. A delay is added between ssh and sshd, half of it in each direction.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if runs < 1 || keys < 1 || len(delays) == 0 {
				return exit.Usagef("--runs and --keys must be at least 1, and --delay must have a value")
			}
			var points []sshPoint
			for _, d := range delays {
				if d < 0 || d > 2000 {
					return exit.Usagef("--delay %d: out of range (0 to 2000 milliseconds)", d)
				}
				p, err := measureSSH(cmd.Context(), e, time.Duration(d)*time.Millisecond, runs, keys)
				if err != nil {
					return fmt.Errorf("a delay of %d ms: %w", d, err)
				}
				points = append(points, p)
			}
			return e.Print(points, func(w io.Writer) { writeSSH(w, points) })
		},
	}
	c.Flags().IntSliceVar(&delays, "delay", []int{0, 20}, "round-trip delays of the network in milliseconds, measured in turn")
	c.Flags().IntVar(&runs, "runs", 5, "rounds, each of keys by ssh, keys by longterm, and a list")
	c.Flags().IntVar(&keys, "keys", 100, "keys in each round and way")
	return e.JSONFlag(c)
}

func writeSSH(w io.Writer, points []sshPoint) {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	for _, row := range []struct {
		name string
		of   func(p *sshPoint) float64
	}{
		{"delay there and back, ms", func(p *sshPoint) float64 { return p.Delay }},
		{"ssh: key to echo p50, ms", func(p *sshPoint) float64 { return p.SSH50 }},
		{"p99", func(p *sshPoint) float64 { return p.SSH99 }},
		{"attach: key to echo p50, ms", func(p *sshPoint) float64 { return p.Attach50 }},
		{"p99", func(p *sshPoint) float64 { return p.Attach99 }},
		{"ratio", func(p *sshPoint) float64 { return p.Ratio }},
		{"ls, ms", func(p *sshPoint) float64 { return p.List }},
		{"ls without the round trip, ms", func(p *sshPoint) float64 { return p.ListOverhead }},
	} {
		fmt.Fprint(tw, row.name, "\t")
		for i := range points {
			fmt.Fprintf(tw, "%.2f\t", row.of(&points[i]))
		}
		fmt.Fprintln(tw)
	}
	_ = tw.Flush()
}

// errNoSSH reports that ssh is unavailable for the comparison.
var errNoSSH = errors.New("ssh server unavailable (requires ssh, ssh-keygen and /usr/sbin/sshd, and as root unshare)")

// measureSSH measures with one delay.
func measureSSH(ctx context.Context, e *Program, delay time.Duration, runs, keys int) (p sshPoint, err error) {
	s, err := newSessionBench(e, runs, 0)
	if err != nil {
		return p, err
	}
	defer s.close()
	far := &sessionBench{program: e, dir: filepath.Join(s.dir, "far"), self: s.self}
	for _, kv := range s.env {
		if !strings.HasPrefix(kv, "LONGTERM_DIR=") && !strings.HasPrefix(kv, "HOME=") {
			far.env = append(far.env, kv)
		}
	}
	bin := filepath.Join(far.dir, "bin")
	if err := errors.Join(os.MkdirAll(bin, 0o700), os.Symlink(s.self, filepath.Join(bin, "longterm"))); err != nil {
		return p, err
	}
	place := filepath.Join(far.dir, "lt")
	far.env = append(far.env, "LONGTERM_DIR="+place, "HOME="+far.dir)
	defer func() { _, _ = far.lt(context.WithoutCancel(ctx), "daemon", "stop", "--kill-sessions") }()
	daemon := startBenchSSH(s, fmt.Sprintf("SetEnv HOME=%s LONGTERM_DIR=%s PATH=%s:/usr/bin:/bin SHELL=/bin/sh\n", far.dir, place, bin))
	if daemon == nil {
		return p, errNoSSH
	}
	defer daemon.close()
	line, err := newDelayed(fmt.Sprint("127.0.0.1:", daemon.port), delay/2)
	if err != nil {
		return p, err
	}
	defer line.Close()
	ssh := []string{"ssh", "-F", filepath.Join(s.dir, "ssh_config"), "-o", "Port=" + line.port()}
	s.env = append(s.env, "LONGTERM_SSH="+strings.Join(ssh, " "))
	defer func() { _, _ = s.lt(context.WithoutCancel(ctx), "hosts", "disconnect", "loopback") }()
	if _, err := far.lt(ctx, "new", "-n", "echo", "--", "sh", "-c", echoScript); err != nil {
		return p, err
	}
	if _, err := far.lt(ctx, "wait", "echo", "--for", "text=READY>", "--since", "0", "--timeout", "30s"); err != nil {
		return p, err
	}
	var raw, ours, ratios, lists []float64
	for range runs {
		r, err := s.typeInto(ctx, keys, append(ssh, "-tt", "loopback", "sh -c \""+echoScript+"\""))
		if err != nil {
			return p, fmt.Errorf("ssh: %w", err)
		}
		o, err := s.typeInto(ctx, keys, []string{s.self, "-H", "loopback", "attach", "echo", "--predict", "never"})
		if err != nil {
			return p, fmt.Errorf("longterm attach: %w", err)
		}
		began := time.Now()
		if _, err := s.lt(ctx, "-H", "loopback", "ls"); err != nil {
			return p, err
		}
		lists = append(lists, ms(began))
		raw, ours, ratios = append(raw, r...), append(ours, o...), append(ratios, median(o)/median(r))
	}
	p = sshPoint{
		Delay: float64(delay.Milliseconds()), Keys: runs * keys, SSH50: median(raw), SSH99: percentile(raw, 0.99),
		Attach50: median(ours), Attach99: percentile(ours, 0.99), Ratio: median(ratios), List: median(lists),
	}
	p.ListOverhead = p.List - p.SSH50
	return p, nil
}

// typeInto types keys into a program that echoes, one after the other's echo, and returns how long each echo took, in
// milliseconds.
func (b *sessionBench) typeInto(ctx context.Context, keys int, argv []string) (took []float64, err error) {
	c, err := b.client(ctx, argv[0], argv[1:]...)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := c.readUntil("READY>"); err != nil {
		return nil, err
	}
	for i := range keys + 5 {
		key := string(rune('a' + i%26))
		began := time.Now()
		if _, err := c.tty.WriteString(key); err != nil {
			return nil, err
		}
		if err := c.readUntil(key); err != nil {
			return nil, err
		}
		if i >= 5 { // the first come while what was painted may still be under way
			took = append(took, float64(time.Since(began).Nanoseconds())/1e6)
		}
	}
	return took, nil
}

// delayed is a slow network between the loopback interface and itself: bytes that arrive at its address are forwarded
// to another one later.
type delayed struct {
	net.Listener
	to    string // address to forward to
	delay time.Duration
}

func newDelayed(to string, delay time.Duration) (*delayed, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &delayed{l, to, delay}
	go d.serve()
	return d, nil
}

func (d *delayed) port() string {
	_, port, _ := net.SplitHostPort(d.Addr().String()) // it is one
	return port
}

func (d *delayed) serve() {
	for {
		c, err := d.Accept()
		if err != nil {
			return
		}
		there, err := net.Dial("tcp", d.to)
		if err != nil {
			_ = c.Close()
			continue
		}
		go d.pass(c, there)
		go d.pass(there, c)
	}
}

// packet is a piece of data with its delivery time.
type packet struct {
	b   []byte
	due time.Time
}

// pass forwards each piece on its own schedule: later pieces do not wait for those under way.
func (d *delayed) pass(to, from net.Conn) {
	way := make(chan packet, 4096)
	go func() {
		defer close(way)
		for {
			b := make([]byte, 32<<10)
			n, err := from.Read(b)
			if n > 0 {
				way <- packet{b[:n], time.Now().Add(d.delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range way {
		if left := time.Until(p.due); left > 0 {
			<-time.After(left)
		}
		if _, err := to.Write(p.b); err != nil {
			_ = from.Close()
		}
	}
	_ = to.Close()
}
