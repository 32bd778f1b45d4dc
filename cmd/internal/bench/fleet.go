//go:build unix

package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/fleets"
	"github.com/longterm-dev/longterm/cmd/internal/fleetsim"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/registry"
)

// fleetPoint holds the costs of a fleet of one size.
type fleetPoint struct {
	Hosts       int      `json:"hosts"`
	Sessions    int      `json:"sessions" doc:"of all hosts"`
	Begin       float64  `json:"begin_ms"` // until all sessions are in the registry
	List        float64  `json:"list_ms"`
	ListCPU     cpuTimes `json:"list_cpu_ms"`
	ListOne     float64  `json:"list_of_one_host_ms"`
	Changes     float64  `json:"changes_per_second"` // changes published
	Seen        int      `json:"changes_seen"`       // changes that reached the viewer
	Change50    float64  `json:"change_to_viewer_p50_ms"`
	Change99    float64  `json:"change_to_viewer_p99_ms"`
	First       float64  `json:"search_first_hit_ms"` // delay of the first search hit
	All         float64  `json:"search_all_ms"`       // until all hosts have answered the search
	SearchCPU   cpuTimes `json:"search_cpu_ms"`
	Hits        int      `json:"search_hits"`
	ServerBytes float64  `json:"server_bytes_per_session"`
	ViewerBytes float64  `json:"viewer_bytes_per_session"`
	Storm       float64  `json:"storm_settles_ms"` // time to recover after the server was killed and restarted
}

// cpuTimes is CPU time, user and system, of each side in milliseconds. In practice the hosts are separate machines; here
// they are one process.
type cpuTimes struct {
	Client float64 `json:"client"`
	Daemon float64 `json:"daemon"`
	Server float64 `json:"server"`
	Hosts  float64 `json:"hosts"`
}

// measureCPU measures the CPU time that do uses.
func (b *fleetBench) measureCPU(ctx context.Context, do func() error) (s cpuTimes, err error) {
	pids, err := b.daemonPIDs(ctx)
	if err != nil {
		return s, err
	}
	look := func() (all [4]time.Duration, err error) {
		for i, who := range map[int]int{0: syscall.RUSAGE_CHILDREN, 3: syscall.RUSAGE_SELF} {
			var u syscall.Rusage
			if err := syscall.Getrusage(who, &u); err != nil {
				return all, err
			}
			all[i] = time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
		if all[2], err = cpuTime(b.server.Process.Pid); err != nil {
			return all, err
		}
		for _, pid := range pids {
			used, err := cpuTime(pid)
			if err != nil {
				return all, err
			}
			all[1] += used
		}
		return all, nil
	}
	before, err := look()
	if err == nil {
		err = do()
	}
	if err != nil {
		return s, err
	}
	after, err := look()
	of := func(i int) float64 { return float64((after[i] - before[i]).Microseconds()) / 1000 }
	return cpuTimes{of(0), of(1), of(2), of(3)}, err
}

// medianCPU returns the median of each figure.
func medianCPU(all []cpuTimes) (s cpuTimes) {
	of := func(get func(cpuTimes) float64) float64 {
		var v []float64
		for _, one := range all {
			v = append(v, get(one))
		}
		return median(v)
	}
	return cpuTimes{
		of(func(s cpuTimes) float64 { return s.Client }), of(func(s cpuTimes) float64 { return s.Daemon }),
		of(func(s cpuTimes) float64 { return s.Server }), of(func(s cpuTimes) float64 { return s.Hosts }),
	}
}

type fleetBench struct {
	*sessionBench
	dir     certs.Dir
	a       *certs.Authority
	addr    string
	server  *exec.Cmd
	rate    int
	measure time.Duration
}

func fleetCommand(e *Program) *cobra.Command {
	var hosts []int
	var sessions, rate, runs int
	c := &cobra.Command{
		Use: "fleet", Short: "Measure a fleet of simulated hosts", Args: cobra.NoArgs,
		Long: "Measure the costs of a fleet with a separate server, daemon and simulated hosts: lists of all sessions and of one host,\n" +
			"the time until a viewer sees a change, a search over all hosts, memory per session, and the time until all is\n" +
			"published again after the server was killed. The hosts run on the measured machine.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if runs < 1 || rate < 1 || sessions < 1 || len(hosts) == 0 {
				return exit.Usagef("--runs, --rate, --sessions and --hosts must be at least 1")
			}
			var points []fleetPoint
			for _, n := range hosts {
				if err := (&fleetsim.Options{Hosts: n, Sessions: sessions}).Check(); err != nil {
					return exit.Usage(err)
				}
			}
			for _, n := range hosts {
				p, err := measureFleet(cmd.Context(), e, n, sessions, rate, runs)
				if err != nil {
					return fmt.Errorf("%d hosts: %w", n, err)
				}
				fmt.Fprintf(e.Stderr, "%d hosts are measured\n", n)
				points = append(points, p)
			}
			return e.Print(points, func(w io.Writer) { writeFleet(w, points) })
		},
	}
	c.Flags().IntSliceVar(&hosts, "hosts", []int{10, 100, 1000}, "`NUMBERS` of hosts, one fleet after the other")
	c.Flags().IntVar(&sessions, "sessions", 100, "sessions of each host")
	c.Flags().IntVar(&rate, "rate", 2000, "changes a second, at most")
	c.Flags().IntVar(&runs, "runs", 5, "runs of each list and search")
	return e.JSONFlag(c)
}

func writeFleet(w io.Writer, points []fleetPoint) {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	row := func(name string, of func(p *fleetPoint) float64) {
		fmt.Fprint(tw, name, "\t")
		for i := range points {
			fmt.Fprintf(tw, "%.0f\t", of(&points[i]))
		}
		fmt.Fprintln(tw)
	}
	row("hosts", func(p *fleetPoint) float64 { return float64(p.Hosts) })
	row("sessions", func(p *fleetPoint) float64 { return float64(p.Sessions) })
	row("all published, ms", func(p *fleetPoint) float64 { return p.Begin })
	row("fleet ls, ms", func(p *fleetPoint) float64 { return p.List })
	row("  processor time: client", func(p *fleetPoint) float64 { return p.ListCPU.Client })
	row("  daemon", func(p *fleetPoint) float64 { return p.ListCPU.Daemon })
	row("  server", func(p *fleetPoint) float64 { return p.ListCPU.Server })
	row("  hosts", func(p *fleetPoint) float64 { return p.ListCPU.Hosts })
	row("fleet ls HOST, ms", func(p *fleetPoint) float64 { return p.ListOne })
	row("changes a second", func(p *fleetPoint) float64 { return p.Changes })
	row("change to viewer p50, ms", func(p *fleetPoint) float64 { return p.Change50 })
	row("change to viewer p99, ms", func(p *fleetPoint) float64 { return p.Change99 })
	row("search, first hit, ms", func(p *fleetPoint) float64 { return p.First })
	row("search, all, ms", func(p *fleetPoint) float64 { return p.All })
	row("  processor time: client", func(p *fleetPoint) float64 { return p.SearchCPU.Client })
	row("  daemon", func(p *fleetPoint) float64 { return p.SearchCPU.Daemon })
	row("  server", func(p *fleetPoint) float64 { return p.SearchCPU.Server })
	row("  hosts", func(p *fleetPoint) float64 { return p.SearchCPU.Hosts })
	row("server, bytes a session", func(p *fleetPoint) float64 { return p.ServerBytes })
	row("viewer, bytes a session", func(p *fleetPoint) float64 { return p.ViewerBytes })
	row("server killed, all settled, ms", func(p *fleetPoint) float64 { return p.Storm })
	_ = tw.Flush()
}

func ms(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / 1000 }

// fleetTimeout is the timeout of each step that waits for all hosts.
const fleetTimeout = 5 * time.Minute

func measureFleet(ctx context.Context, e *Program, hosts, sessions, rate, runs int) (p fleetPoint, err error) {
	s, err := newSessionBench(e, runs, 0)
	if err != nil {
		return p, err
	}
	defer s.close()
	b := &fleetBench{sessionBench: s, dir: certs.Dir(filepath.Join(s.dir, "lt", "state", "fleet")), rate: rate, measure: 10 * time.Second}
	if err := b.createFleet(ctx); err != nil {
		return p, err
	}
	defer b.endServer()
	p.Hosts, p.Sessions = hosts, hosts*sessions
	ctx, done := context.WithTimeout(ctx, 4*fleetTimeout)
	defer done()
	f, err := fleetsim.Start(ctx, fleetsim.Options{Authority: b.a, Servers: []string{b.addr}, Hosts: hosts, Sessions: sessions})
	if err != nil {
		return p, err
	}
	defer f.Close()
	if err := f.Settle(ctx); err != nil {
		return p, err
	}
	before := pss(b.server.Process.Pid)
	began := time.Now()
	f.Fill()
	if err := f.Settle(ctx); err != nil {
		return p, err
	}
	p.Begin = ms(began)
	p.ServerBytes = (pss(b.server.Process.Pid) - before) * 1024 / float64(p.Sessions)
	for _, step := range []func(context.Context, *fleetsim.Fleet, *fleetPoint) error{b.lists, b.searches, b.changes, b.storm} {
		if err := step(ctx, f, &p); err != nil {
			return p, err
		}
	}
	return p, nil
}

// createFleet creates the fleet, starts its server, and lets the daemon join.
func (b *fleetBench) createFleet(ctx context.Context) error {
	if err := os.MkdirAll(string(b.dir), 0o700); err != nil {
		return err
	}
	o := fleets.Init{Fleet: "bench", Host: "viewer", Reach: []string{"127.0.0.1:0"}}
	if err := o.Make(ctx, b.dir); err != nil {
		return err
	}
	var err error
	if b.a, err = b.dir.Authority(); err != nil {
		return err
	}
	if err := b.startServer("127.0.0.1:0"); err != nil {
		return err
	}
	set, err := b.dir.Settings()
	if err != nil {
		return err
	}
	set.Servers, set.Reach = []string{b.addr}, []string{b.addr}
	if err := b.dir.SaveSettings(set); err != nil {
		return err
	}
	for ctx.Err() == nil { // the daemon is connected a moment after it starts
		out, err := b.lt(ctx, "fleet", "status", "--json")
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		var st api.Fleet
		if err := json.Unmarshal([]byte(out), &st); err != nil {
			return err
		}
		if st.Connected && st.Error == "" {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	return ctx.Err()
}

// startServer starts the fleet server and returns when it accepts connections.
func (b *fleetBench) startServer(listen string) error {
	o := fleets.Serve{Listen: listen, JSON: true}
	argv, err := o.Argv(b.dir)
	if err != nil {
		return err
	}
	var said bytes.Buffer
	b.server = exec.Command(argv[0], argv[1:]...)
	b.server.Stderr = &said
	out, err := b.server.StdoutPipe()
	if err == nil {
		err = b.server.Start()
	}
	if err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var at struct{ Address string }
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err != nil {
		b.endServer()
		return fmt.Errorf("the server did not start: %w: %s", err, said.String())
	}
	b.addr = at.Address
	return nil
}

func (b *fleetBench) endServer() {
	_ = b.server.Process.Signal(syscall.SIGKILL)
	_ = b.server.Wait()
}

// lists measures `fleet ls`, run as a process.
func (b *fleetBench) lists(ctx context.Context, _ *fleetsim.Fleet, p *fleetPoint) error {
	var all, one []float64
	var spents []cpuTimes
	for range b.runs {
		var out string
		cpu, err := b.measureCPU(ctx, func() (err error) {
			began := time.Now()
			out, err = b.lt(ctx, "fleet", "ls", "--json")
			all = append(all, ms(began))
			return err
		})
		spents = append(spents, cpu)
		if n := strings.Count(out, `"id":`); err != nil || n != p.Sessions {
			return fmt.Errorf("fleet ls: %d of %d sessions, %w", n, p.Sessions, err)
		}
		began := time.Now()
		if out, err := b.lt(ctx, "fleet", "ls", fleetsim.Name(p.Hosts/2), "--json"); err != nil {
			return fmt.Errorf("fleet ls HOST: %w: %s", err, out)
		}
		one = append(one, ms(began))
	}
	p.List, p.ListOne, p.ListCPU = median(all), median(one), medianCPU(spents)
	return nil
}

// searches measures `fleet search` for text that each host has once.
func (b *fleetBench) searches(ctx context.Context, _ *fleetsim.Fleet, p *fleetPoint) error {
	var first, all []float64
	var spents []cpuTimes
	for range b.runs {
		p.Hits = 0
		cpu, err := b.measureCPU(ctx, func() error {
			f, a, err := b.search(ctx, p)
			first, all = append(first, f), append(all, a)
			return err
		})
		spents = append(spents, cpu)
		if err != nil || p.Hits == 0 {
			return fmt.Errorf("fleet search: %d of %d hits, %w", p.Hits, p.Hosts, err)
		}
	}
	p.First, p.All, p.SearchCPU = median(first), median(all), medianCPU(spents)
	return nil
}

// search runs a search and returns how long the first hit and all hits took.
func (b *fleetBench) search(ctx context.Context, p *fleetPoint) (first, all float64, err error) {
	cmd := b.command(ctx, b.self, "fleet", "search", "--json", fleetsim.SearchWord)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if bytes.Contains(lines.Bytes(), []byte(`"text":`)) {
			if p.Hits++; p.Hits == 1 {
				first = ms(began)
			}
		}
	}
	err = cmd.Wait()
	return first, ms(began), err
}

// viewer is a client that watches all sessions of the fleet.
type viewer struct {
	link     *link.Link
	mu       sync.Mutex
	sessions map[string]api.FleetSession // newest state of each session
	delays   []float64                   // delay of each change, ms
}

// stamp separates a command from the time at which it was published.
const stamp = " # "

// watch follows changes until the context ends. It closes settled once it knows all existing sessions.
func (v *viewer) watch(ctx context.Context, settled chan struct{}) {
	_ = registry.Watch(ctx, v.link.JetStream(), registry.AllPatterns(), func(e registry.Entry) {
		now := time.Now().UnixNano()
		var s api.FleetSession
		if e.Record == "" || json.Unmarshal(e.Value, &s) != nil {
			return
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		v.sessions[e.Host+"/"+e.Record] = s
		if _, at, ok := strings.Cut(s.Command, stamp); ok {
			if then, err := strconv.ParseInt(at, 10, 64); err == nil {
				v.delays = append(v.delays, float64(now-then)/1e6)
			}
		}
	}, func() { close(settled) })
}

// heap returns the bytes of live heap objects.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// changes measures the delay from a change to the viewer's notice of it, while many are published.
func (b *fleetBench) changes(ctx context.Context, f *fleetsim.Fleet, p *fleetPoint) error {
	l, err := fleetsim.Open(b.a, []string{b.addr}, "watcher", nil)
	if err != nil {
		return err
	}
	defer l.Close()
	v := &viewer{link: l, sessions: map[string]api.FleetSession{}}
	watching, stop := context.WithCancel(ctx)
	settled, ended := make(chan struct{}), make(chan struct{})
	before := heap()
	go func() { defer close(ended); v.watch(watching, settled) }()
	defer func() { stop(); <-ended }()
	select {
	case <-settled:
	case <-ended:
		return errors.New("registry: not published to the viewer")
	}
	p.ViewerBytes = (heap() - before) / float64(p.Sessions)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	n, began := 0, time.Now()
	for time.Since(began) < b.measure {
		<-tick.C
		for due := int(time.Since(began).Seconds() * float64(b.rate)); n < due; n++ {
			f.Change(n, "make -j2 all"+stamp+strconv.FormatInt(time.Now().UnixNano(), 10))
		}
	}
	p.Changes = float64(n) / time.Since(began).Seconds()
	if err := f.Settle(ctx); err != nil {
		return err
	}
	if err := b.allSeen(ctx, v, n); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	p.Seen, p.Change50, p.Change99 = len(v.delays), percentile(v.delays, 0.5), percentile(v.delays, 0.99)
	return nil
}

// allSeen waits until the viewer has the newest change of each session.
func (b *fleetBench) allSeen(ctx context.Context, v *viewer, made int) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end) && ctx.Err() == nil; {
		<-tick.C
		v.mu.Lock()
		n := 0
		for _, s := range v.sessions {
			if strings.Contains(s.Command, stamp) {
				n++
			}
		}
		all := n >= min(made, len(v.sessions)) && len(v.delays) > 0
		v.mu.Unlock()
		if all {
			return nil
		}
	}
	return errors.New("the viewer did not see all changes")
}

// storm kills and restarts the server, and measures the time until all hosts have reconnected.
func (b *fleetBench) storm(ctx context.Context, f *fleetsim.Fleet, p *fleetPoint) error {
	f.Mark()
	b.endServer()
	began := time.Now()
	if err := b.startServer(b.addr); err != nil {
		return err
	}
	if err := f.Settle(ctx); err != nil {
		return err
	}
	for {
		var st []api.FleetHost
		out, err := b.lt(ctx, "fleet", "hosts", "--json")
		if err == nil {
			err = json.Unmarshal([]byte(out), &st)
		}
		there := len(slices.DeleteFunc(st, func(h api.FleetHost) bool { return h.State != "connected" || !strings.HasPrefix(h.Host, "sim-") }))
		if err == nil && there == p.Hosts {
			p.Storm = ms(began)
			return nil
		}
		if ctx.Err() != nil || time.Since(began) > fleetTimeout {
			return fmt.Errorf("%d of %d hosts came back: %w", there, p.Hosts, err)
		}
	}
}

// simulateCommand returns the command that adds light hosts to the fleet of this machine.
func simulateCommand(p *Program) *cobra.Command {
	var o fleetsim.Options
	var rate int
	c := &cobra.Command{Use: "simulate", Short: "Add simulated hosts to the fleet, for measurements", Args: cobra.NoArgs}
	c.Long = `Have light hosts in this process be part of the fleet, until it is interrupted: each with a connection, an entry in the
registry, sessions that change, events, output and answers to searches, as real ones have, only that the sessions are made
up. It runs on the machine where the fleet was made, whose authority lets them in; they are named sim-1, sim-2 … and take
nothing by "fleet run". At the end they are taken out of the registry again.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.Check(); err != nil {
			return exit.Usage(err)
		}
		if rate < 0 || rate > 10000 {
			return exit.Usagef("--rate %d: give 0 to 10000", rate)
		}
		dirs, err := paths.Default()
		if err != nil {
			return err
		}
		dir := certs.Dir(dirs.Fleet())
		s, err := dir.Settings()
		if err == nil {
			o.Authority, err = dir.Authority()
		}
		switch {
		case errors.Is(err, certs.ErrNone):
			return exit.Usagef("hosts are simulated on the machine where the fleet was made; `longterm fleet init` makes one")
		case err != nil:
			return err
		case s.Foreign:
			return exit.Usagef("this fleet uses an existing NATS, where hosts are not let in by their certificates alone")
		}
		o.Servers = s.Servers
		return fleetsim.Run(cmd.Context(), p.Stdout, o, rate)
	}
	f := c.Flags()
	f.IntVar(&o.Hosts, "hosts", 10, "`NUMBER` of hosts")
	f.IntVar(&o.Sessions, "sessions", 10, "sessions of each host")
	f.IntVar(&rate, "rate", 10, "changed sessions per second of all hosts; for one in a hundred a command ends too")
	return c
}
