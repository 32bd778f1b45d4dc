package vterm

// Character sets; their number is what snapshots keep, so new ones go to the end.
const (
	charsetASCII charset = iota
	charsetGraphics
	charsetBritish
	charsetDutch
	charsetFinnish
	charsetFrench
	charsetFrenchCanadian
	charsetGerman
	charsetItalian
	charsetNorwegian
	charsetPortuguese
	charsetSpanish
	charsetSwedish
	charsetSwiss
	charsetLatin1
	charsetSupplemental
	charsetTechnical
)

type mapping struct{ from, to rune }

type charsetTable struct {
	names    []string // final byte of SCS, intermediates before it
	size96   bool     // designated by - . / rather than ( ) * +
	national bool     // only with DECNRCM, as in xterm
	marks    []mapping
	high     []rune // 0x5f to 0x7e, when given
}

// national builds the marks of a national replacement set (VT510, table 5-4): what
// stands in place of # @ [ \ ] ^ _ ` { | } ~.
func national(s string) []mapping {
	from := []rune("#@[\\]^_`{|}~")
	var m []mapping
	for i, to := range []rune(s) {
		if from[i] != to {
			m = append(m, mapping{from[i], to})
		}
	}
	return m
}

var charsetTables = [...]charsetTable{
	charsetASCII: {names: []string{"B"}},
	// DEC Special Graphics (VT100): lines, scan lines, a few signs.
	charsetGraphics: {
		names: []string{"0", "2"},
		high:  []rune(" ◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"),
	},
	charsetBritish:        {names: []string{"A"}, marks: []mapping{{'#', '£'}}},
	charsetDutch:          {names: []string{"4"}, national: true, marks: national("£¾ĳ½|^_`¨ƒ¼´")},
	charsetFinnish:        {names: []string{"5", "C"}, national: true, marks: national("#@ÄÖÅÜ_éäöåü")},
	charsetFrench:         {names: []string{"R", "f"}, national: true, marks: national("£à°ç§^_`éùè¨")},
	charsetFrenchCanadian: {names: []string{"Q", "9"}, national: true, marks: national("#àâçêî_ôéùèû")},
	charsetGerman:         {names: []string{"K"}, national: true, marks: national("#§ÄÖÜ^_`äöüß")},
	charsetItalian:        {names: []string{"Y"}, national: true, marks: national("£§°çé^_ùàòèì")},
	charsetNorwegian:      {names: []string{"E", "6", "`"}, national: true, marks: national("#ÄÆØÅÜ_äæøåü")},
	charsetPortuguese:     {names: []string{"%6"}, national: true, marks: national("#@ÃÇÕ^_`ãçõ~")},
	charsetSpanish:        {names: []string{"Z"}, national: true, marks: national("£§¡Ñ¿^_`°ñç~")},
	charsetSwedish:        {names: []string{"H", "7"}, national: true, marks: national("#ÉÄÖÅÜ_éäöåü")},
	charsetSwiss:          {names: []string{"="}, national: true, marks: national("ùàéçêîèôäöüû")},
	charsetLatin1:         {names: []string{"A"}, size96: true, marks: latin1()},
	charsetSupplemental:   {names: []string{"<", "%5"}, marks: supplemental()},
	charsetTechnical:      {names: []string{">"}, marks: technical()},
}

// latin1 is the right half of ISO 8859-1.
func latin1() []mapping {
	var m []mapping
	for r := rune(0x21); r < 0x7f; r++ {
		m = append(m, mapping{r, r + 0x80})
	}
	return m
}

// supplemental is DEC Supplemental Graphic: Latin-1 but for these (VT220, table 2-3).
func supplemental() []mapping {
	m := []mapping{{'(', '¤'}, {'W', 'Œ'}, {'w', 'œ'}, {']', 'Ÿ'}, {'}', 'ÿ'}}
	return append(m, latin1()...)
}

// technical is DEC Technical (VT330, chapter 2).
func technical() []mapping {
	const set = "⎷┌─⌠⌡│⎡⎣⎤⎦⎧⎩⎫⎭⎨⎬╶╶╲╱╴╴╴⟩\u0000\u0000\u0000\u0000≤≠≥∫" +
		"∴∝∞÷Δ∇ΦΓ∼≃Θ×Λ⇔⇒≡ΠΨ\u0000Σ\u0000\u0000√ΩΞΥ⊂⊃∩∪∧∨" +
		"¬αβχδεφγηιθκλ\u0000ν∂πψρστ\u0000ƒωξυζ←↑→↓"
	var m []mapping
	r := rune(0x21)
	for _, to := range set {
		if to != 0 {
			m = append(m, mapping{r, to})
		}
		r++
	}
	return m
}
