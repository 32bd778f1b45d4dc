package journal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// buildLog returns about n bytes of output of a verbose build of a C++ project: directory by directory progress lines
// and compiler calls with their flags, among them warnings with source lines, and test results with times and hashes.
// Names come from a stock of fifty words, numbers are random.
func buildLog(rnd *rand.Rand, n int) []byte {
	stock := strings.Fields("arena batch cache codec column cursor decoder dispatch encoder engine event " +
		"filter frame graph handle header index journal kernel layout loader mapper merge packet parser " +
		"planner queue reader record region render router scanner schema segment session shard signal " +
		"socket stream symbol table token tracker vector watcher window writer")
	word := func() string { return stock[rnd.IntN(len(stock))] }
	var b bytes.Buffer
	var dir string
	for i := 0; b.Len() < n; i++ {
		if i%25 == 0 {
			dir = fmt.Sprintf("src/%s/%s", word(), word())
		}
		file := fmt.Sprintf("%s/%s_%s", dir, word(), word())
		fmt.Fprintf(&b, "\x1b[32m[%3d%%] \x1b[0mBuilding CXX object %s.cc.o\r\n"+
			"/usr/bin/c++ -DNDEBUG -DUSE_%s -I/home/dev/project/include -I/home/dev/project/build/gen "+
			"-O2 -g -Wall -Wextra -fPIC -std=gnu++20 -MD -MT %s.cc.o -MF %s.cc.o.d -o %s.cc.o -c /home/dev/project/%s.cc\r\n",
			i/40%100, file, strings.ToUpper(word()), file, file, file, file)
		switch {
		case i%7 == 0:
			line, col := rnd.IntN(3000), 1+rnd.IntN(90)
			fmt.Fprintf(&b, "\x1b[1m%s.cc:%d:%d: \x1b[35mwarning: \x1b[0munused variable '%s_%s' [-Wunused-variable]\r\n"+
				"%5d |   auto %s_%s = %s->next(%d);\r\n      | %s\x1b[32m^~~~~~\x1b[0m\r\n",
				file, line, col, word(), word(), line, word(), word(), word(), rnd.IntN(100), strings.Repeat(" ", col))
		case i%11 == 0:
			fmt.Fprintf(&b, "ok  \tproject/%s/%s\t%d.%03ds\tcoverage: %d.%d%% of statements %016x\r\n",
				word(), word(), rnd.IntN(20), rnd.IntN(1000), rnd.IntN(100), rnd.IntN(10), rnd.Uint64())
		}
	}
	return b.Bytes()[:n]
}

// TestBuildLogShrinks checks the size of a build's history on disk, relative to its raw size.
//
// FEATURES: R92
func TestBuildLogShrinks(t *testing.T) {
	t.Parallel()
	raw := buildLog(rand.New(rand.NewPCG(1, 1)), 4<<20)
	for _, size := range []int{64 << 10, 16 << 10, 4 << 10, 512} {
		j := open(t, t.TempDir(), Options{FS: &disk{}})
		for p := range chunked(raw, size) {
			must(t, j.AppendOutput(p))
		}
		hot := float64(j.size) / float64(len(raw))
		if _, err := j.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		dense := float64(j.size) / float64(len(raw))
		t.Logf("chunks of %d: %.3f while appending, %.3f compacted", size, hot, dense)
		if dense > 0.10 {
			t.Errorf("chunks of %d: %.3f of the raw size, at most a tenth is promised", size, dense)
		}
	}
}

// chunked cuts p into pieces.
func chunked(p []byte, size int) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(p) > 0 {
			n := min(size, len(p))
			if !yield(p[:n]) {
				return
			}
			p = p[n:]
		}
	}
}
