//go:build chaos && unix

package webpage

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// chaosPrograms draw until a file exists, which is their $0.
var chaosPrograms = []struct{ name, script string }{
	{"flood", `i=0; while [ ! -e "$0" ]; do i=$((i+1)); echo "line $i of a build"; [ $((i%300)) = 0 ] && sleep 0.3; done; echo end; exec cat`},
	{"full", `printf '\033[?1049h\033[2J'; i=0; while [ ! -e "$0" ]; do i=$((i+1)); printf '\033[%d;%dH\033[38;5;%dm%d 漢字 é\033[m' $((i%24+1)) $((i*7%60+1)) $((i%256)) $i; [ $((i%50)) = 0 ] && sleep 0.1; done; printf '\033[24;1H\033[Kend'; exec cat`},
	{"regions", `i=0; while [ ! -e "$0" ]; do i=$((i+1)); printf '\033[5;15r\033[15;1H\n\033[1;3%dmregion %d\033[m\033[r\033[20;1H\033[Kstatus %d' $((i%8)) $i $i; [ $((i%20)) = 0 ] && sleep 0.1; done; printf '\033[24;1Hend'; exec cat`},
	{"switch", `i=0; while [ ! -e "$0" ]; do i=$((i+1)); printf '\033[?1049h\033[2J\033[Hinside %d' $i; sleep 0.2; printf '\033[?1049loutside %d\r\n' $i; sleep 0.1; done; echo end; exec cat`},
	{"typed", `stty -echo; echo ready; while read l; do echo "got $l"; done`},
}

// TestChaos opens tabs while daemons are killed every 20 s and the network is cut repeatedly (CHAOS=20m,20: duration
// and number of tabs). At the end each shows its session's screen, and typed input arrived once.
func TestChaos(t *testing.T) {
	tier.Full(t)
	wanted := os.Getenv("CHAOS")
	if wanted == "" {
		t.Fatal("set duration and number: CHAOS=20m,20")
	}
	for_, number, _ := strings.Cut(wanted, ",")
	long, err := time.ParseDuration(for_)
	count := 0
	if _, bad := fmt.Sscan(number, &count); err != nil || bad != nil || count < 1 || long <= 0 {
		t.Fatalf("CHAOS=%s is no DURATION,TABS such as 20m,20", wanted)
	}
	b := browser.New(t)
	i := e2e.New(t)
	stop := filepath.Join(i.Dir, "stop")
	shown := make([]string, count)
	var typists []int
	for k := range shown {
		p := chaosPrograms[k%len(chaosPrograms)]
		shown[k] = p.name
		if p.name == "typed" { // each types into a separate session: keys of two would mix
			shown[k] = fmt.Sprintf("typed%d", k)
			typists = append(typists, k)
		}
		if k < len(chaosPrograms) || p.name == "typed" {
			i.Run("new", "-n", shown[k], "--cols", "90", "--rows", "24", "--", "sh", "-c", p.script, stop)
		}
	}
	// A busy machine answers late: only a wrong answer fails the test.
	i.Patience, b.Patience = 10*time.Minute, 10*time.Minute
	n, pages := tabs(i, b, count, func(k int, p *browser.Page) { show(i, p, shown[k]) })
	typed := map[int][]string{}
	kills, cuts, lines := 0, 0, 0
	begun := time.Now()
	kill, change, cut, typing := begun.Add(20*time.Second), begun.Add(10*time.Second), false, begun
	for now := begun; now.Sub(begun) < long; now = time.Now() {
		switch {
		case now.After(kill):
			kill = now.Add(20 * time.Second)
			killDaemon(i)
			if kills++; kills%15 == 1 {
				status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", i.Status().DaemonPID))
				_, rss, _ := strings.Cut(string(status), "VmRSS:")
				rss, _, _ = strings.Cut(rss, "\n")
				t.Logf("%v: %d kills, %d cuts, %d lines typed; the daemon has %s", now.Sub(begun).Round(time.Second), kills, cuts, lines, strings.TrimSpace(rss))
			}
		case now.After(change):
			if cut = !cut; cut {
				cuts++
			}
			change = now.Add(time.Duration(1+rand.IntN(15)) * time.Second)
			n.set(cut)
		case now.After(typing):
			typing = now.Add(time.Second)
			if len(typists) > 0 {
				k := typists[lines%len(typists)]
				line := fmt.Sprintf("t%d.%d", k, lines)
				pages[k].Type(line + "\n")
				typed[k] = append(typed[k], line)
				lines++
			}
		default: // the page is what waits
			pages[0].Eval(`new Promise((on) => setTimeout(on, 200))`, nil)
		}
	}
	n.set(false)
	if err := os.WriteFile(stop, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for k, p := range pages {
		p.Wait("connected", `longterm.link.state === 'open'`)
		if !slices.Contains(typists, k) {
			shows(p, "end")
		}
		p.Wait("what was typed", `longterm.link.pending.size === 0`)
	}
	for k, p := range pages {
		if all := typed[k]; len(all) > 0 {
			shows(p, "got "+all[len(all)-1])
		}
		settles(i, p, shown[k])
	}
	for k, all := range typed {
		typedOnce(i, shown[k], all)
	}
	quiet(t, b, "WebSocket", "Failed to load resource")
	t.Logf("%d kills, %d cuts, %d lines typed", kills, cuts, lines)
}
