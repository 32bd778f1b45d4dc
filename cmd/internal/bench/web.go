//go:build unix

package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/vterm/payload"
)

func webCommand(e *Program) *cobra.Command {
	var span time.Duration
	var mib int
	c := &cobra.Command{
		Use: "web", Short: "Measure the page: bytes on the wire, frames, CPU time of the daemon", Args: cobra.NoArgs,
		Long: "Show sessions of 200×60 on a page that draws 60 times a second, and measure the bytes on its connection and the\n" +
			"daemon's CPU time. For comparison, run the same programs on a terminal whose raw output is sent over a WebSocket, as\n" +
			"web terminals with an emulator in the page do: plain, and compressed (permessage-deflate).",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if span < time.Second || mib < 1 {
				return fmt.Errorf("--span must be at least 1s, --mib at least 1")
			}
			s, err := newSessionBench(e, 1, 0)
			if err != nil {
				return err
			}
			defer s.close()
			b := &webBench{sessionBench: s, span: span, mib: mib}
			v, err := b.run(cmd.Context())
			if err != nil {
				return err
			}
			return e.Print(v, v.write)
		},
	}
	c.Flags().DurationVar(&span, "span", 5*time.Second, "duration of htop and of the idle phase")
	c.Flags().IntVar(&mib, "mib", 32, "size of the flood in MiB")
	return e.JSONFlag(c)
}

// webFigures is the result of `bench web`.
type webFigures struct {
	First struct {
		Bytes    int64   `json:"bytes"`      // over the connection, until the first screen came, with nothing kept by the browser
		Requests int     `json:"requests"`   // for them
		Millis   float64 `json:"ms"`         // from the first request, without the browser's own work
		Script   int64   `json:"page_bytes"` // of them, of the page's files
	} `json:"first_screen"`
	Loads []*webLoad `json:"loads"`
}

// webLoad holds the figures of one program shown on a page.
type webLoad struct {
	Name      string  `json:"name"`
	Seconds   float64 `json:"seconds"`
	Output    int64   `json:"output_bytes"`     // bytes that the program printed
	Page      int64   `json:"page_bytes"`       // bytes sent to the page
	Back      int64   `json:"page_bytes_back"`  // bytes sent by the page
	Raw       int64   `json:"raw_bytes"`        // bytes sent over a plain WebSocket with a terminal's output
	RawPacked int64   `json:"raw_packed_bytes"` // the same with compression
	Ratio     float64 `json:"ratio"`            // Page divided by Raw
	Packed    float64 `json:"ratio_packed"`     // Page divided by RawPacked
	Frames    int     `json:"frames"`
	CPU       float64 `json:"daemon_cpu_ms"`
	Note      string  `json:"note,omitempty"`
}

func (v *webFigures) write(w io.Writer) {
	f := &v.First
	fmt.Fprintf(w, "first screen: %d bytes in %d requests, %d of them the page's files; %.1f ms without the browser's own work\n", f.Bytes, f.Requests, f.Script, f.Millis)
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "\tseconds\toutput\tpage\traw\traw, packed\tratio\tto packed\tframes/s\tdaemon CPU\t")
	for _, l := range v.Loads {
		if l.Note != "" {
			fmt.Fprintf(tw, "%s\t%s\t\n", l.Name, l.Note)
			continue
		}
		fmt.Fprintf(tw, "%s\t%.2f\t%d\t%d\t%d\t%d\t%.3f\t%.3f\t%.1f\t%.0f ms\t\n", l.Name, l.Seconds, l.Output, l.Page, l.Raw, l.RawPacked, l.Ratio, l.Packed, float64(l.Frames)/l.Seconds, l.CPU)
	}
	_ = tw.Flush()
}

const webCols, webRows = 200, 60

// webBench measures the web page.
type webBench struct {
	*sessionBench
	span time.Duration // duration of loads that have no end
	mib  int
	link string // login link
}

// webProgram is a program to show. It waits for a line, runs, and prints marker. A load that does not end is measured for
// webBench.span.
type webProgram struct {
	name, script string
	ends         bool
	keys         []string // keys typed while it runs, one after the other
}

// marker marks the end of a load's output. The script assembles it from parts, so the echoed command line does not
// contain it.
const marker = "ALL-SHOWN>"

func (b *webBench) loads() ([]webProgram, error) {
	flood, log := filepath.Join(b.dir, "flood"), filepath.Join(b.dir, "log")
	for path, name := range map[string]string{flood: "build_log_coloured", log: "build_log_coloured"} {
		p, ok := payload.ByName(name)
		if !ok {
			return nil, fmt.Errorf("no payload %q", name)
		}
		n := b.mib << 20
		if path == log {
			n = int(b.span.Seconds() * 10_000) // a hundred lines a second
		}
		if err := os.WriteFile(path, p.Generate(n), 0o600); err != nil {
			return nil, err
		}
	}
	return []webProgram{
		{name: "flood", script: "cat " + flood, ends: true},
		{name: "numbers", script: fmt.Sprint("seq 1 ", b.mib*140_000), ends: true},
		{name: "build log", script: "while read -r l; do printf '%s\\n' \"$l\"; sleep 0.01; done < " + log, ends: true},
		{name: "htop", script: "exec htop -d 10"},
		{name: "idle", script: "exec sleep 100000"},
		{name: "prompt", script: `PS1=$(printf '\033[1;32muser@host\033[0m:\033[1;34m~/src/project\033[0m (\033[33mmain\033[0m) $ '); export PS1; exec sh -i`,
			keys: strings.Split(strings.Repeat("l,s, ,-,d, ,/,\n,", 5)+"t,r,u,e,\n", ",")},
	}, nil
}

func (b *webBench) run(ctx context.Context) (*webFigures, error) {
	loads, err := b.loads()
	if err != nil {
		return nil, err
	}
	out, err := b.lt(ctx, "web", "--json", "--listen", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	var link api.WebLink
	if err := json.Unmarshal([]byte(out), &link); err != nil {
		return nil, err
	}
	b.link = link.Link
	v := &webFigures{}
	p, err := b.firstScreen(ctx, v)
	if err != nil {
		return nil, err
	}
	defer p.close()
	for _, l := range loads {
		f := &webLoad{Name: l.name}
		v.Loads = append(v.Loads, f)
		if _, err := exec.LookPath("htop"); l.name == "htop" && err != nil {
			f.Note = "not installed"
			continue
		}
		if err := b.onPage(ctx, p, &l, f); err != nil {
			return nil, fmt.Errorf("%s: %w", l.name, err)
		}
		for _, packed := range []bool{false, true} {
			output, sent, err := b.raw(ctx, &l, packed)
			if err != nil {
				return nil, fmt.Errorf("%s, its bytes alone: %w", l.name, err)
			}
			if packed {
				f.RawPacked = sent
			} else {
				f.Raw, f.Output = sent, output
			}
		}
		f.Ratio, f.Packed = multiple(f.Page, f.Raw), multiple(f.Page, f.RawPacked)
	}
	return v, nil
}

// multiple returns a as a multiple of b.
func multiple(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// shell returns the script that a shell runs for a load.
func (l *webProgram) shell() string {
	s := "stty -echo; read begin; stty echo; " + l.script
	if l.ends {
		s += "; printf 'ALL-%s' 'SHOWN>'; exec sleep 100000"
	}
	return s
}

// onPage runs a load in a session that a page shows, and fills in its figures.
func (b *webBench) onPage(ctx context.Context, p *webPage, l *webProgram, f *webLoad) error {
	out, err := b.lt(ctx, "daemon", "status", "--json")
	if err != nil {
		return err
	}
	var st api.Status
	if err := json.Unmarshal([]byte(out), &st); err != nil {
		return err
	}
	if err := waitIdle(ctx, st.DaemonPID); err != nil {
		return err
	}
	name := strings.ReplaceAll(l.name, " ", "-")
	if _, err := b.lt(ctx, "new", "-n", name, "--cols", fmt.Sprint(webCols), "--rows", fmt.Sprint(webRows), "--", "sh", "-c", l.shell()); err != nil {
		return err
	}
	if err := p.show(name); err != nil {
		return err
	}
	if err := p.wait(ctx, func() bool { return p.frames > 0 }); err != nil {
		return err
	}
	before, err := cpuTime(st.DaemonPID)
	if err != nil {
		return err
	}
	in, back, frames, began := p.conn.in.Load(), p.conn.out.Load(), p.framesNow(), time.Now()
	if err := p.key("\n"); err != nil {
		return err
	}
	if err := b.runLoad(ctx, l, p.key, func() error { return p.wait(ctx, func() bool { return strings.Contains(p.text(), marker) }) }); err != nil {
		return err
	}
	after, err := cpuTime(st.DaemonPID)
	if err != nil {
		return err
	}
	f.Seconds, f.CPU = time.Since(began).Seconds(), float64((after-before).Microseconds())/1000
	f.Page, f.Back, f.Frames = p.conn.in.Load()-in, p.conn.out.Load()-back, p.framesNow()-frames
	if err := p.send(map[string]any{"t": "unsub", "id": p.sub}); err != nil {
		return err
	}
	_, err = b.lt(ctx, "kill", name)
	return err
}

// waitIdle waits until a process has finished earlier work, such as indexing: it then uses less than two hundredths of
// a processor for half a second. It returns after a minute in any case.
func waitIdle(ctx context.Context, pid int) error {
	const span = time.Second / 2
	for range 120 {
		before, err := cpuTime(pid)
		pause(ctx, span)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if used, err := cpuTime(pid); err != nil || used-before < span/50 {
			return err
		}
	}
	return nil
}

// runLoad runs a load to its end, through its keys, or for the span.
func (b *webBench) runLoad(ctx context.Context, l *webProgram, key func(string) error, end func() error) error {
	if l.ends {
		return end()
	}
	if len(l.keys) == 0 {
		pause(ctx, b.span)
		return ctx.Err()
	}
	pause(ctx, time.Second/2)
	for _, k := range l.keys {
		if k == "" {
			continue
		}
		if err := key(k); err != nil {
			return err
		}
		pause(ctx, 60*time.Millisecond)
	}
	pause(ctx, time.Second/2)
	return ctx.Err()
}
