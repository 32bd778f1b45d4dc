//go:build ignore

// Command gen writes tables_gen.go from the Unicode Character Database. Give it a folder
// with EastAsianWidth.txt, GraphemeBreakProperty.txt, DerivedCoreProperties.txt,
// emoji-data.txt and emoji-variation-sequences.txt of one version:
//
//	go run gen.go -ucd DIR
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const version = "17.0.0"

// The layout of a property word: that of Props in width.go.
const (
	widthShift  = 0 // 2 bits
	ambiguous   = 1 << 2
	emojiVS     = 1 << 3
	pictograph  = 1 << 4
	gcbShift    = 5 // 4 bits
	incbShift   = 9 // 2 bits
	wideDefault = 2
)

var gcb = map[string]uint16{
	"CR": 1, "LF": 1, "Control": 1, "Extend": 2, "ZWJ": 3, "Regional_Indicator": 4, "Prepend": 5,
	"SpacingMark": 6, "L": 7, "V": 8, "T": 9, "LV": 10, "LVT": 11,
}

var incb = map[string]uint16{"Consonant": 1, "Extend": 2, "Linker": 3}

var (
	dir   = flag.String("ucd", "", "folder with the files of the Unicode Character Database") // flags and state of the program.
	props [0x110000]uint16
)

// each calls f for every range of a file, with its other fields and its comment.
func each(name string, f func(lo, hi int, fields []string, comment string)) {
	file, err := os.Open(filepath.Join(*dir, name))
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	for s := bufio.NewScanner(file); s.Scan(); {
		data, comment, _ := strings.Cut(s.Text(), "#")
		fields := strings.Split(data, ";")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if len(fields) < 2 {
			continue
		}
		from, to, ok := strings.Cut(fields[0], "..")
		if !ok {
			to = from
		}
		lo, err1 := strconv.ParseInt(strings.Fields(from)[0], 16, 32)
		hi, err2 := strconv.ParseInt(strings.Fields(to)[0], 16, 32)
		if err1 != nil || err2 != nil {
			log.Fatalf("%s: bad line %q", name, s.Text())
		}
		f(int(lo), int(hi), fields[1:], strings.TrimSpace(comment))
	}
}

func setWidth(lo, hi int, w uint16) {
	for r := lo; r <= hi; r++ {
		props[r] = props[r]&^3 | w
	}
}

// widths sets the columns like xterm, after Markus Kuhn's wcwidth: marks and format characters have none, East Asian
// wide and fullwidth ones two, all others one.
func widths() {
	setWidth(0, len(props)-1, 1)
	for _, r := range [][2]int{{0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xf900, 0xfaff}, {0x20000, 0x2fffd}, {0x30000, 0x3fffd}} {
		setWidth(r[0], r[1], wideDefault)
	}
	each("EastAsianWidth.txt", func(lo, hi int, f []string, comment string) {
		category, _, _ := strings.Cut(comment, " ")
		for r := lo; r <= hi; r++ {
			switch {
			case category == "Mn" || category == "Me" || category == "Cf":
				setWidth(r, r, 0)
			case f[0] == "W" || f[0] == "F":
				setWidth(r, r, 2)
			default:
				setWidth(r, r, 1)
			}
			if f[0] == "A" && category != "Mn" && category != "Me" && category != "Cf" {
				props[r] |= ambiguous
			}
		}
	})
	exceptions()
}

// exceptions sets the widths that differ from the general rules.
func exceptions() {
	setWidth(0xad, 0xad, 1)     // SOFT HYPHEN is seen
	setWidth(0x0600, 0x0605, 1) // Arabic number signs enclose digits
	setWidth(0x06dd, 0x06dd, 1)
	setWidth(0x070f, 0x070f, 1)
	setWidth(0x0890, 0x0891, 1)
	setWidth(0x08e2, 0x08e2, 1)
	setWidth(0x110bd, 0x110bd, 1)
	setWidth(0x110cd, 0x110cd, 1)
	setWidth(0x1160, 0x11ff, 0) // Hangul vowels and trailing consonants join the one before
	setWidth(0xd7b0, 0xd7ff, 0)
	setWidth(0x2028, 0x2029, 0)
	setWidth(0x4dc0, 0x4dff, 2) // hexagrams: wide since Unicode 16
}

// properties sets the properties for grapheme clusters.
func properties() {
	each("GraphemeBreakProperty.txt", func(lo, hi int, f []string, _ string) {
		for r := lo; r <= hi; r++ {
			props[r] |= gcb[f[0]] << gcbShift
		}
	})
	each("DerivedCoreProperties.txt", func(lo, hi int, f []string, _ string) {
		for r := lo; r <= hi && f[0] == "InCB" && len(f) > 1; r++ {
			props[r] |= incb[f[1]] << incbShift
		}
	})
	for r, p := range props { // marks that take a column: see grapheme.go
		if p&3 == 1 && (p>>gcbShift&15 == gcb["SpacingMark"] || r == 0xff9e || r == 0xff9f) {
			props[r] &^= 15<<gcbShift | 3<<incbShift
		}
	}
	each("emoji-data.txt", func(lo, hi int, f []string, _ string) {
		for r := lo; r <= hi && f[0] == "Extended_Pictographic"; r++ {
			props[r] |= pictograph
		}
	})
	each("emoji-variation-sequences.txt", func(lo, _ int, _ []string, _ string) {
		props[lo] |= emojiVS
	})
}

func main() {
	log.SetFlags(0)
	flag.Parse()
	if _, err := os.Stat(*dir); err != nil {
		log.Printf("no Unicode Character Database in %q: the tables stay as they are", *dir)
		return
	}
	widths()
	properties()
	var blocks [][256]uint16
	seen := map[[256]uint16]int{}
	var index []int
	for b := 0; b < len(props); b += 256 {
		block := [256]uint16(props[b : b+256])
		i, ok := seen[block]
		if !ok {
			i = len(blocks)
			seen[block] = i
			blocks = append(blocks, block)
		}
		index = append(index, i)
	}
	write(index, blocks)
}

func write(index []int, blocks [][256]uint16) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated by gen.go; DO NOT EDIT.\n\npackage width\n\n")
	fmt.Fprintf(&b, "// Version is the version of Unicode that the tables are of.\nconst Version = %q\n\n", version)
	fmt.Fprintf(&b, "var index = [%d]uint8{", len(index))
	for i, v := range index {
		if i%32 == 0 {
			fmt.Fprintf(&b, "\n")
		}
		fmt.Fprintf(&b, "%d, ", v)
	}
	fmt.Fprintf(&b, "\n}\n\nvar blocks = [%d][256]uint16{\n", len(blocks))
	for _, block := range blocks {
		fmt.Fprintf(&b, "{")
		for i, v := range block {
			if i%32 == 0 {
				fmt.Fprintf(&b, "\n")
			}
			fmt.Fprintf(&b, "%#x, ", v)
		}
		fmt.Fprintf(&b, "\n},\n")
	}
	fmt.Fprintf(&b, "}\n")
	src, err := format.Source(b.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("tables_gen.go", src, 0o644); err != nil {
		log.Fatal(err)
	}
}
