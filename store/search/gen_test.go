package search

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator makes lines as terminals see them: builds, tests, servers' logs, package
// managers, listings, traces, a little prose in several scripts. The same seed makes
// the same lines.
type generator struct {
	rnd   *rand.Rand
	words []string
	zipf  *rand.Zipf
	clock int64 // seconds of the day, for time stamps
	left  int   // lines until the next kind of program
	kind  int
}

func newGenerator(seed uint64) *generator {
	g := &generator{rnd: rand.New(rand.NewPCG(seed, 7)), clock: 1}
	vocabulary := rand.New(rand.NewPCG(99, 7)) // the same for all seeds
	syllables := strings.Fields("con tra de ter in ex pro re mi no lu st er ing ar ch an se ver th le ion at al ka po su ti wo fi ne mo gra ble ck sh ou ea ty per")
	for range 20_000 {
		var w strings.Builder
		for range 1 + vocabulary.IntN(4) {
			w.WriteString(syllables[vocabulary.IntN(len(syllables))])
		}
		g.words = append(g.words, w.String())
	}
	g.zipf = rand.NewZipf(g.rnd, 1.15, 4, uint64(len(g.words)-1))
	return g
}

func (g *generator) word() string { return g.words[g.zipf.Uint64()] }

func (g *generator) prose(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = g.word()
	}
	return strings.Join(list, " ")
}

func (g *generator) path(ext string) string {
	return g.word() + "/" + g.word() + "/" + g.word() + "_" + g.word() + ext
}

func (g *generator) hex(n int) string {
	const digits = "0123456789abcdef"
	b := make([]byte, n)
	for i := range b {
		b[i] = digits[g.rnd.IntN(16)]
	}
	return string(b)
}

func (g *generator) stamp() string {
	g.clock += int64(g.rnd.IntN(3))
	return fmt.Sprintf("2025-03-%02dT%02d:%02d:%02d.%03dZ", 1+g.clock/86400%28, g.clock/3600%24, g.clock/60%60, g.clock%60, g.rnd.IntN(1000))
}

// programs lists the kinds of output, with their shares.
var programs = []struct {
	share int
	line  func(g *generator) string
}{
	{12, func(g *generator) string {
		return fmt.Sprintf("%s %s level=%s msg=%q request_id=%s duration=%dms", g.stamp(), g.word(),
			[]string{"info", "info", "info", "warn", "error", "debug"}[g.rnd.IntN(6)], g.prose(3+g.rnd.IntN(6)), g.hex(16), g.rnd.IntN(5000))
	}},
	{10, func(g *generator) string {
		return fmt.Sprintf(`10.%d.%d.%d - - [%s] "GET /%s?id=%d HTTP/1.1" %d %d "-" "Mozilla/5.0 (X11; Linux x86_64)"`, g.rnd.IntN(4),
			g.rnd.IntN(256), g.rnd.IntN(256), g.stamp(), g.path(""), g.rnd.IntN(100000), 200+g.rnd.IntN(4)*100, g.rnd.IntN(60000))
	}},
	{8, func(g *generator) string {
		return fmt.Sprintf("%s:%d:%d: error: '%s' was not declared in this scope", g.path(".c"), g.rnd.IntN(3000), 1+g.rnd.IntN(80), g.word())
	}},
	{14, func(g *generator) string {
		return fmt.Sprintf("[%3d%%] Building CXX object CMakeFiles/%s.dir/src/%s.o", g.rnd.IntN(101), g.word(), g.path(".cpp"))
	}},
	{10, func(g *generator) string {
		return fmt.Sprintf("=== RUN   Test%s/%s\n--- PASS: Test%s (0.%02ds)", g.word(), g.word(), g.word(), g.rnd.IntN(100))
	}},
	{8, func(g *generator) string {
		return fmt.Sprintf("-rw-r--r-- 1 user user %8d Mar %2d %02d:%02d %s", g.rnd.IntN(1e7), 1+g.rnd.IntN(28), g.rnd.IntN(24), g.rnd.IntN(60), g.path(".go"))
	}},
	{8, func(g *generator) string {
		return fmt.Sprintf("   Compiling %s-%s v%d.%d.%d", g.word(), g.word(), g.rnd.IntN(4), g.rnd.IntN(30), g.rnd.IntN(20))
	}},
	{6, func(g *generator) string {
		return fmt.Sprintf("\tat com.%s.%s.%s(%s.java:%d)", g.word(), g.word(), g.word(), g.word(), g.rnd.IntN(900))
	}},
	{6, func(g *generator) string {
		return fmt.Sprintf(`{"ts":%q,"pid":%d,"span":%q,"event":%q,"ok":%t,"n":%d}`, g.stamp(), g.rnd.IntN(65536), g.hex(8), g.word(), g.rnd.IntN(2) == 0, g.rnd.IntN(1000))
	}},
	{8, func(g *generator) string { return g.prose(6 + g.rnd.IntN(14)) }},
	{4, func(g *generator) string {
		return "commit " + g.hex(40) + "\nAuthor: " + g.word() + "\n    " + g.prose(7)
	}},
	{3, func(g *generator) string {
		const han = "日本語端末出力検索索引行文字列会話記録試験失敗成功警告時間接続"
		runes := []rune(han)
		var b strings.Builder
		for range 10 + g.rnd.IntN(20) {
			b.WriteRune(runes[g.rnd.IntN(len(runes))])
		}
		return b.String()
	}},
	{3, func(g *generator) string {
		return g.hex(8) + ": " + g.hex(4) + " " + g.hex(4) + " " + g.hex(4) + " " + g.hex(4)
	}},
}

// next is the next line, or a few.
func (g *generator) next() string {
	if g.left--; g.left < 0 {
		g.left, g.kind = 5+g.rnd.IntN(200), g.pick()
	}
	return programs[g.kind].line(g)
}

func (g *generator) pick() int {
	n := g.rnd.IntN(100)
	for i, p := range programs {
		if n -= p.share; n < 0 {
			return i
		}
	}
	return 0
}
