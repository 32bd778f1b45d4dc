package color

import "testing"

// TestParse checks colour specifications. Sources: XParseColor(3), "Color names"; values of the Xcms spaces as xterm
// reports them.
func TestParse(t *testing.T) {
	for _, tt := range []struct {
		spec string
		want uint32
	}{
		{"#fff", 0xf0f0f0}, {"#102030", 0x102030}, {"#111222333", 0x112233}, {"#111122223333", 0x112233},
		{"rgb:f/0/8", 0xff0088}, {"rgb:ff/00/80", 0xff0080}, {"rgb:ffff/0000/8080", 0xff0080}, {"RGB:1/2/3", 0x112233},
		{"rgbi:1/0/0", 0xff0000}, {"red", 0xff0000}, {" Dark Gray ", 0xa9a9a9}, {"CIEXYZ:0/0/0", 0},
	} {
		if got, ok := Parse(tt.spec); !ok || got != tt.want {
			t.Errorf("%q is %06x, %v; want %06x", tt.spec, got, ok, tt.want)
		}
	}
	for _, spec := range []string{
		"", "#", "#12", "#12345", "#xyz", "#1234567890123", "rgb:1/2", "rgb:1/2/3/4", "rgb:12345/0/0", "rgb:-1/0/0",
		"rgbi:2/0/0", "rgbi:x/0/0", "rgbi:NaN/0/0", "CIELab:Inf/0/0", "nospace:1/2/3", "no such colour",
	} {
		if got, ok := Parse(spec); ok {
			t.Errorf("%q is %06x, want none", spec, got)
		}
	}
}

func TestFormatIsParsed(t *testing.T) {
	for _, c := range []uint32{0, 0x123456, 0xffffff} {
		if got, ok := Parse(Format(c)); !ok || got != c {
			t.Errorf("%06x is written %q, which is %06x, %v", c, Format(c), got, ok)
		}
	}
}

// FuzzParse checks that any text, in any colour space, is a colour or none, and that parsing ends.
func FuzzParse(f *testing.F) {
	for space := range colorSpaces {
		f.Add(space + ":50/20/30")
	}
	f.Add("#123456789")
	f.Fuzz(func(t *testing.T, spec string) {
		if c, ok := Parse(spec); ok && c > 0xffffff {
			t.Fatalf("%q is %x", spec, c)
		}
	})
}

func TestTable(t *testing.T) {
	var table Table
	table.Reset()
	frame := table.Palette
	table.Push()
	table.Change(func(p *Palette) { p.Colors[1] = 0x123456 })
	table.SetDynamic(1, 0x222222)
	table.Special[0] = 1
	if *frame != *Defaults {
		t.Error("a palette that was handed out changed")
	}
	if p := table.Palette; p.Colors[1] != 0x123456 || p.Background != 0x222222 || table.Dynamic[1] != 0x222222 {
		t.Errorf("set: %06x, %06x, %06x", p.Colors[1], p.Background, table.Dynamic[1])
	}
	table.Pop()
	if *table.Palette != *Defaults || table.Special[0] != Defaults.Foreground || len(table.Stack) != 0 {
		t.Error("a pop does not restore the pushed colours")
	}
	table.Pop() // of an empty stack
	for range StackMax + 1 {
		table.Push()
	}
	if len(table.Stack) != StackMax {
		t.Errorf("%d saved", len(table.Stack))
	}
}

func TestHex(t *testing.T) {
	p := DefaultPalette()
	for _, tt := range []struct {
		c    Color
		want uint32
	}{{0, 0xabcdef}, {Index(1), 0xcd0000}, {Index(16), 0}, {Index(231), 0xffffff}, {Index(232), 0x080808}, {RGB(1, 2, 3), 0x010203}} {
		if got := p.Hex(tt.c, 0xabcdef); got != tt.want {
			t.Errorf("%08x is %06x, want %06x", tt.c, got, tt.want)
		}
	}
}
