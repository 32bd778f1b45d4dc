//go:build unix

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/sys"
)

// soakReport is the result of `bench soak`.
type soakReport struct {
	Minutes  float64          `json:"minutes"`
	Done     map[string]int64 `json:"done"` // operations by kind
	Failed   int64            `json:"failed"`
	Failures []string         `json:"failures"`
	Samples  []soakSample     `json:"samples"`
	// Slopes are growths per hour, by name, over the last two thirds of the samples.
	Slopes map[string]float64 `json:"slopes_per_hour"`
	Left   []int              `json:"processes_left"` // pids of leftover processes
}

// soakSample is the resource use of daemon and keeper at a moment. Sizes are KiB.
type soakSample struct {
	Seconds    float64  `json:"seconds"`
	Sessions   int      `json:"sessions"`
	Goroutines int      `json:"goroutines"`
	DiskKiB    int64    `json:"disk_kib"`
	Daemon     procUses `json:"daemon"`
	Keeper     procUses `json:"keeper"`
}

// procUses is the resource use of a process, from /proc.
type procUses struct {
	RSSKiB  int64 `json:"rss_kib"`
	PSSKiB  int64 `json:"pss_kib"`
	FDs     int   `json:"fds"`
	Maps    int   `json:"mappings"`
	Threads int   `json:"threads"`
}

// values returns the sample's figures by name.
func (s *soakSample) values() map[string]float64 {
	m := map[string]float64{"sessions": float64(s.Sessions), "goroutines": float64(s.Goroutines), "disk_kib": float64(s.DiskKiB)}
	for who, p := range map[string]*procUses{"daemon": &s.Daemon, "keeper": &s.Keeper} {
		m[who+"_rss_kib"], m[who+"_pss_kib"] = float64(p.RSSKiB), float64(p.PSSKiB)
		m[who+"_fds"], m[who+"_mappings"], m[who+"_threads"] = float64(p.FDs), float64(p.Maps), float64(p.Threads)
	}
	return m
}

func soakCommand(e *Program) *cobra.Command {
	var minutes float64
	var every time.Duration
	var workers int
	c := &cobra.Command{
		Use: "soak", Short: "Run mixed load for a long time and report growth", Args: cobra.NoArgs,
		Long: `Run commands and lines, start and remove sessions, attach, watch and wait, in a separate instance, and sample the
resources of daemon and keeper: memory, descriptors, mappings, threads, goroutines, disk. At the end print the growth of
each per hour. Exit status 1 if an operation failed or a process survived.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if minutes <= 0 || every <= 0 || workers < 1 {
				return exit.Usagef("--minutes, --every and --workers must be positive")
			}
			b, err := newSessionBench(e, 1, 0)
			if err != nil {
				return err
			}
			r, err := b.soak(cmd.Context(), time.Duration(minutes*float64(time.Minute)), every, workers)
			b.close()
			if err != nil {
				return err
			}
			r.Left = b.leftoverProcesses()
			if err := e.Print(r, func(w io.Writer) { writeSoak(w, r) }); err != nil {
				return err
			}
			if r.Failed > 0 || len(r.Left) > 0 {
				return exit.With(api.ExitFailure, fmt.Errorf("%d operations failed, %d leftover processes", r.Failed, len(r.Left)))
			}
			return nil
		},
	}
	f := c.Flags()
	f.Float64Var(&minutes, "minutes", 10, "duration in minutes")
	f.DurationVar(&every, "every", 10*time.Second, "time between samples")
	f.IntVar(&workers, "workers", 4, "clients at once")
	return e.JSONFlag(c)
}

func writeSoak(w io.Writer, r *soakReport) {
	fmt.Fprintf(w, "%.1f minutes:", r.Minutes)
	for _, k := range soakKinds {
		fmt.Fprintf(w, " %d %s,", r.Done[k.name], k.name)
	}
	fmt.Fprintf(w, " %d failed\n", r.Failed)
	if len(r.Samples) == 0 {
		return
	}
	first, last := r.Samples[0].values(), r.Samples[len(r.Samples)-1].values()
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "\tfirst\tlast\tper hour\t")
	for _, name := range soakNames {
		fmt.Fprintf(tw, "%s\t%.0f\t%.0f\t%+.0f\t\n", name, first[name], last[name], r.Slopes[name])
	}
	_ = tw.Flush()
	for _, f := range r.Failures {
		fmt.Fprintln(w, f)
	}
	fmt.Fprintf(w, "%d leftover processes\n", len(r.Left))
}

// soakNames are the figures in the order they are printed.
var soakNames = []string{
	"sessions", "goroutines", "disk_kib",
	"daemon_rss_kib", "daemon_pss_kib", "daemon_fds", "daemon_mappings", "daemon_threads",
	"keeper_rss_kib", "keeper_pss_kib", "keeper_fds", "keeper_mappings", "keeper_threads",
}

// soaker is a client that performs operations in a loop.
type soaker struct {
	c    *client.Client
	id   int // number of the client
	last int // number of its last operation
}

// soakKinds lists the kinds of operations.
var soakKinds = []struct {
	name string
	do   func(*soaker, context.Context) error
}{
	{"runs", (*soaker).run}, {"lines", (*soaker).exec}, {"sessions", (*soaker).session},
	{"attaches", (*soaker).attach}, {"viewers", (*soaker).watch}, {"waits", (*soaker).wait},
}

func (s *soaker) run(ctx context.Context) error {
	r, err := s.c.Run(ctx, api.Run{NewSession: api.NewSession{Cwd: "/", Argv: []string{"sh", "-c", "seq 1 200; exit 3"}}})
	if err == nil && (r.ExitCode == nil || *r.ExitCode != 3) {
		err = fmt.Errorf("run: %s %s", r.State, r.Error)
	}
	return err
}

// shell returns the client's session.
func (s *soaker) shell() *client.Session { return s.c.Session("soak" + strconv.Itoa(s.id)) }

func (s *soaker) exec(ctx context.Context) error {
	s.last++
	r, err := s.shell().Exec(ctx, api.Exec{Line: fmt.Sprint("echo ", s.last), Wait: true})
	if err == nil && strings.TrimSpace(r.Output) != fmt.Sprint(s.last) {
		err = fmt.Errorf("line %d: %s %q %s", s.last, r.State, r.Output, r.Error)
	}
	return err
}

func (s *soaker) session(ctx context.Context) error {
	n, err := s.c.NewSession(ctx, api.NewSession{Cwd: "/", Argv: []string{"sh", "-c", "seq 1 1000; exec cat"}})
	if err != nil {
		return err
	}
	_, err = s.c.Session(n.ID).Type(ctx, api.Input{Text: "x\n"})
	return errors.Join(err, s.c.Session(n.ID).Remove(ctx, true))
}

func (s *soaker) attach(ctx context.Context) error {
	st, err := s.shell().Attach(ctx, client.StreamOptions{Cols: 80 + rand.IntN(40), Rows: 24})
	if err != nil {
		return err
	}
	_, _, err = st.Read()
	return errors.Join(err, st.Close())
}

func (s *soaker) watch(ctx context.Context) error {
	st, err := s.shell().Watch(ctx, client.StreamOptions{})
	if err != nil {
		return err
	}
	_, err = st.NextFrame()
	return errors.Join(err, st.Close())
}

func (s *soaker) wait(ctx context.Context) error {
	w, err := s.shell().Wait(ctx, api.Wait{Conds: []api.Condition{{Kind: "quiet", QuietMS: 20}, {Kind: "text", Text: "never"}}, TimeoutMS: 5000})
	if err == nil && w.Outcome != "fired" {
		err = fmt.Errorf("wait: %s", w.Outcome)
	}
	return err
}

func (b *sessionBench) soak(ctx context.Context, d, every time.Duration, workers int) (*soakReport, error) {
	r := &soakReport{Done: map[string]int64{}, Failures: []string{}, Left: []int{}}
	for i := range workers {
		if _, err := b.lt(ctx, "new", "-n", "soak"+strconv.Itoa(i), "--", "bash", "--norc", "--noprofile"); err != nil {
			return nil, err
		}
	}
	l := newLoad(b)
	done := make([]atomic.Int64, len(soakKinds))
	var failed atomic.Int64
	began := time.Now()
	for i := range workers {
		l.work.Go(func() {
			s := &soaker{c: l.c, id: i}
			for n := i; !l.stop.Load() && ctx.Err() == nil; n++ {
				k := &soakKinds[n%len(soakKinds)]
				err := k.do(s, ctx)
				done[n%len(soakKinds)].Add(1)
				if err != nil && ctx.Err() == nil {
					failed.Add(1)
					l.addDifference("%s: %v", k.name, err)
				}
			}
		})
	}
	for ctx.Err() == nil && time.Since(began) < d {
		pause(ctx, min(every, d-time.Since(began)))
		s, err := b.sample(ctx, l.c)
		if err != nil {
			l.end()
			return nil, err
		}
		s.Seconds = time.Since(began).Seconds()
		r.Samples = append(r.Samples, s)
	}
	l.end()
	r.Minutes, r.Failed, r.Slopes = time.Since(began).Minutes(), failed.Load(), slopes(r.Samples)
	r.Failures = append(r.Failures, l.differences...)
	for i := range soakKinds {
		r.Done[soakKinds[i].name] = done[i].Load()
	}
	return r, ctx.Err()
}

func (b *sessionBench) sample(ctx context.Context, c *client.Client) (s soakSample, err error) {
	st, err := c.Status(ctx)
	if err != nil {
		return s, err
	}
	s.Sessions, s.Goroutines = st.Sessions, st.Goroutines
	s.Daemon, s.Keeper = usesOf(st.DaemonPID), usesOf(st.KeeperPID)
	err = filepath.WalkDir(st.State, func(_ string, e fs.DirEntry, err error) error {
		if err != nil { // sessions come and go
			return nil
		}
		if info, err := e.Info(); err == nil {
			s.DiskKiB += info.Size() / 1024
		}
		return nil
	})
	return s, err
}

func usesOf(pid int) (p procUses) {
	p.RSSKiB, p.Threads = sys.NumberField(pid, "status", "VmRSS"), int(sys.NumberField(pid, "status", "Threads"))
	p.PSSKiB = sys.NumberField(pid, "smaps_rollup", "Pss")
	fds, _ := sys.Descriptors(pid)
	p.FDs = len(fds)
	p.Maps, _ = sys.MappingCount(pid)
	return p
}

// slopes fits a line through each figure, without the first third of the samples.
func slopes(all []soakSample) map[string]float64 {
	all = all[len(all)/3:]
	m := map[string]float64{}
	for _, name := range soakNames {
		var n, sx, sy, sxx, sxy float64
		for i := range all {
			x, y := all[i].Seconds/3600, all[i].values()[name]
			n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
		}
		if d := n*sxx - sx*sx; n > 1 && d > 0 {
			m[name] = (n*sxy - sx*sy) / d
		}
	}
	return m
}

// leftoverProcesses returns the processes of the bench's instance that still run after a few seconds.
func (b *sessionBench) leftoverProcesses() []int {
	dir := filepath.Join(b.dir, "lt")
	var pids []int
	for until := time.Now().Add(5 * time.Second); ; {
		pids = []int{}
		all, _ := sys.PIDs()
		for _, pid := range all {
			if pid != os.Getpid() && sys.MarkOf(pid, "LONGTERM_DIR") == dir {
				pids = append(pids, pid)
			}
		}
		if len(pids) == 0 || time.Now().After(until) {
			return pids
		}
		pause(context.Background(), 20*time.Millisecond)
	}
}
