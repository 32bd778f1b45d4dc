package payload

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

func denseCells(b *strings.Builder, _ *rand.Rand) {
	b.WriteString("\x1b[H")
	for i := range 80 * 24 {
		n := i/80 + i%80 + b.Len()>>14
		fmt.Fprintf(b, "\x1b[38;5;%d;48;5;%d;1;3;4m%c", n%156+100, 255-n%156, 'A'+i%26)
	}
}

func manyStyles(b *strings.Builder, r *rand.Rand) {
	for range 80 * 24 {
		fmt.Fprintf(b, "\x1b[38;2;%d;%d;%dm#", r.IntN(256), r.IntN(256), r.IntN(256))
	}
}

func mediumCells(b *strings.Builder, r *rand.Rand) {
	b.WriteString("\x1b[H")
	for range 24 {
		for range 10 {
			fmt.Fprintf(b, "\x1b[%dm%s", 31+r.IntN(7), word(r, 8))
		}
	}
}

func lightCells(b *strings.Builder, r *rand.Rand) {
	b.WriteString("\x1b[H")
	for range 24 * 80 {
		b.WriteByte(byte('a' + r.IntN(26)))
	}
}

func cursorMotion(b *strings.Builder, r *rand.Rand) {
	for range 1000 {
		fmt.Fprintf(b, "\x1b[%d;%dH%c", 1+r.IntN(24), 1+r.IntN(80), 'a'+r.IntN(26))
	}
}

// scrollRegion sets margins once, at the start of the payload.
func scrollRegion(set, at string) func(*strings.Builder, *rand.Rand) {
	return func(b *strings.Builder, _ *rand.Rand) {
		if b.Len() == 0 {
			b.WriteString(set)
			b.WriteString(at)
		}
		b.WriteString("y\r\n")
	}
}

func word(r *rand.Rand, n int) string {
	w := make([]byte, n)
	for i := range w {
		w[i] = byte('a' + r.IntN(26))
	}
	return string(w)
}

func unicodeText(b *strings.Builder, r *rand.Rand) {
	blocks := [][2]rune{{0xa1, 0x17f}, {0x391, 0x3c9}, {0x410, 0x44f}, {0x5d0, 0x5ea}, {0x2500, 0x257f}, {0x2190, 0x21ff}, {0x4e00, 0x9fff}, {0xac00, 0xd7a3}}
	block := blocks[r.IntN(len(blocks))]
	for range 40 {
		b.WriteRune(block[0] + r.Int32N(block[1]-block[0]))
	}
	b.WriteString("\r\n")
}

func buildLog(b *strings.Builder, r *rand.Rand) {
	fmt.Fprintf(b, "[%3d/512] cc -O2 -Wall -Isrc/%s -c src/%s/%s.c -o build/%s.o\r\n",
		r.IntN(512), word(r, 5), word(r, 5), word(r, 7), word(r, 7))
}

func buildLogColoured(b *strings.Builder, r *rand.Rand) {
	fmt.Fprintf(b, "\x1b[32m[%3d/512]\x1b[0m \x1b[1mCompiling\x1b[0m %s v%d.%d.%d (\x1b[36m/src/%s\x1b[0m)\r\n",
		r.IntN(512), word(r, 8), r.IntN(9), r.IntN(9), r.IntN(20), word(r, 6))
	if r.IntN(8) == 0 {
		fmt.Fprintf(b, "\x1b[1;33mwarning\x1b[0m\x1b[1m: unused variable: `%s`\x1b[0m\r\n   \x1b[34m-->\x1b[0m src/%s.rs:%d:%d\r\n",
			word(r, 5), word(r, 6), r.IntN(999), r.IntN(80))
	}
}

func cjkEmoji(b *strings.Builder, r *rand.Rand) {
	for range 12 {
		for range 3 {
			b.WriteRune(0x4e00 + r.Int32N(0x5000))
		}
		b.WriteString([]string{"😀", "👩‍💻", "🇩🇪", "❤️", "👍🏽", " ", "。"}[r.IntN(7)])
	}
	b.WriteString("\r\n")
}

func fullScreen(b *strings.Builder, r *rand.Rand) {
	b.WriteString("\x1b[?25l\x1b[H")
	for row := range 24 {
		fmt.Fprintf(b, "\x1b[%d;1H\x1b[48;5;236m\x1b[38;5;%dm%4d \x1b[0m", row+1, 240+r.IntN(8), row)
		for range 6 {
			fmt.Fprintf(b, "\x1b[38;2;%d;%d;%dm%s ", 50*r.IntN(5), 50*r.IntN(5), 100, word(r, 8))
		}
		b.WriteString("\x1b[0m\x1b[K")
	}
	b.WriteString("\x1b[?25h")
}

func lsLong(b *strings.Builder, r *rand.Rand) {
	fmt.Fprintf(b, "-rw-r--r-- 1 root root %8d Jan %2d 12:%02d %s.%s\r\n",
		r.IntN(1e7), 1+r.IntN(28), r.IntN(60), word(r, 6+r.IntN(12)), word(r, 3))
	if r.IntN(20) == 0 {
		fmt.Fprintf(b, "\r\n./%s/%s:\r\ntotal %d\r\n", word(r, 6), word(r, 8), r.IntN(1000))
	}
}
