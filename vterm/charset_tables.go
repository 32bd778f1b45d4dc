package vterm

// Character sets. Snapshots store their numbers, so new sets go to the end.
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
	charsetDECGreek
	charsetDECHebrew
	charsetDECTurkish
	charsetDECCyrillic
	charsetGreek
	charsetHebrew
	charsetLatin2
	charsetLatin5
	charsetCyrillic
	charsetNationalGreek
	charsetNationalHebrew
	charsetNationalRussian
	charsetNationalSerboCroatian
	charsetNationalTurkish
)

// mapping replaces one character of ASCII.
type mapping struct{ from, to rune }

// charsetTable is a row of the table of character sets.
type charsetTable struct {
	names    []string  // final byte of SCS, intermediates before it
	size96   bool      // designated by - . / rather than ( ) * +
	national bool      // only with DECNRCM, as in xterm
	mappings []mapping // differences from ASCII
	last     []rune    // instead of mappings: the last characters of the set, up to 0x7e
}

// national returns the mappings of a national replacement set (VT510, table 5-4): the characters that replace # @ [ \ ]
// ^ _ ` { | } ~.
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

// charsetTables holds the sets. ␦, a mirrored question mark, marks characters that a set lacks (VT510, chapter 5).
var charsetTables = [...]charsetTable{
	charsetASCII: {names: []string{"B"}},
	// DEC Special Graphics (VT100): lines, scan lines, a few signs.
	charsetGraphics: {
		names: []string{"0", "2"},
		last:  []rune(" ◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"),
	},
	charsetBritish:               {names: []string{"A"}, mappings: []mapping{{'#', '£'}}},
	charsetDutch:                 {names: []string{"4"}, national: true, mappings: national("£¾ĳ½|^_`¨ƒ¼´")},
	charsetFinnish:               {names: []string{"5", "C"}, national: true, mappings: national("#@ÄÖÅÜ_éäöåü")},
	charsetFrench:                {names: []string{"R", "f"}, national: true, mappings: national("£à°ç§^_`éùè¨")},
	charsetFrenchCanadian:        {names: []string{"Q", "9"}, national: true, mappings: national("#àâçêî_ôéùèû")},
	charsetGerman:                {names: []string{"K"}, national: true, mappings: national("#§ÄÖÜ^_`äöüß")},
	charsetItalian:               {names: []string{"Y"}, national: true, mappings: national("£§°çé^_ùàòèì")},
	charsetNorwegian:             {names: []string{"E", "6", "`"}, national: true, mappings: national("#ÄÆØÅÜ_äæøåü")},
	charsetPortuguese:            {names: []string{"%6"}, national: true, mappings: national("#@ÃÇÕ^_`ãçõ~")},
	charsetSpanish:               {names: []string{"Z"}, national: true, mappings: national("£§¡Ñ¿^_`°ñç~")},
	charsetSwedish:               {names: []string{"H", "7"}, national: true, mappings: national("#ÉÄÖÅÜ_éäöåü")},
	charsetSwiss:                 {names: []string{"="}, national: true, mappings: national("ùàéçêîèôäöüû")},
	charsetLatin1:                {names: []string{"A"}, size96: true, last: latin1()},
	charsetSupplemental:          {names: []string{"<", "%5"}, last: []rune("¡¢£␦¥␦§¤©ª«␦␦␦␦°±²³␦µ¶·␦¹º»¼½␦¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏ␦ÑÒÓÔÕÖŒØÙÚÛÜŸ␦ßàáâãäåæçèéêëìíîï␦ñòóôõöœøùúûüÿ␦")},
	charsetTechnical:             {names: []string{">"}, last: []rune("⎷┌─⌠⌡│⎡⎣⎤⎦⎧⎩⎫⎭⎨⎬╶╶╲╱╴╴⟩␦␦␦␦≤≠≥∫∴∝∞÷Δ∇ΦΓ∼≃Θ×Λ⇔⇒≡ΠΨ␦Σ␦␦√ΩΞΥ⊂⊃∩∪∧∨¬αβχδεφγηιθκλ␦ν∂πψρστ␦ƒωξυζ←↑→↓")},
	charsetDECGreek:              {names: []string{`"?`}, last: []rune("¡¢£␦¥␦§¤©ª«␦␦␦␦°±²³␦µ¶·␦¹º»¼½␦¿ϊΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟ␦ΠΡΣΤΥΦΧΨΩάέήί␦όϋαβγδεζηθικλμνξο␦πρστυφχψωςύώ΄␦")},
	charsetDECHebrew:             {names: []string{`"4`}, last: []rune("¡¢£␦¥␦§¨©×«␦␦␦␦°±²³␦µ¶·␦¹÷»¼½␦¿␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦אבגדהוזחטיךכלםמןנסעףפץצקרשת␦␦␦␦")},
	charsetDECTurkish:            {names: []string{"%0"}, last: []rune("¡¢£␦¥␦§¨©ª«␦␦İ␦°±²³␦µ¶·␦¹º»¼½ı¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖŒØÙÚÛÜŸŞßàáâãäåæçèéêëìíîïğñòóôõöœøùúûüÿş")},
	charsetDECCyrillic:           {names: []string{"&4"}, last: []rune("␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦юабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧ")},
	charsetGreek:                 {names: []string{"F"}, size96: true, last: []rune("‘’£␦␦¦§¨©␦«¬\u00ad␦―°±²³΄΅Ά·ΈΉΊ»Ό½ΎΏΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ␦ΣΤΥΦΧΨΩΪΫάέήίΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώ")},
	charsetHebrew:                {names: []string{"H"}, size96: true, last: []rune("␦¢£¤¥¦§¨©×«¬\u00ad®¯°±²³´µ¶·¸¹÷»¼½¾␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦‗אבגדהוזחטיךכלםמןנסעףפץצקרשת␦␦␦␦")},
	charsetLatin2:                {names: []string{"B"}, size96: true, last: []rune("Ą˘Ł¤ĽŚ§¨ŠŞŤŹ\u00adŽŻ°ą˛ł´ľśˇ¸šşťź˝žżŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ")},
	charsetLatin5:                {names: []string{"M"}, size96: true, last: []rune("¡¢£¤¥¦§¨©ª«¬\u00ad®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüış")},
	charsetCyrillic:              {names: []string{"L"}, size96: true, last: []rune("ЁЂЃЄЅІЇЈЉЊЋЌ\u00adЎЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя№ёђѓєѕіїјљњћќ§ў")},
	charsetNationalGreek:         {names: []string{`">`}, national: true, last: []rune("ΑΒΓΔΕΖΗΘΙΚΛΜΝΧΟΠΡΣΤΥΦΞΨΩ␦␦{|}~")},
	charsetNationalHebrew:        {names: []string{"%="}, national: true, last: []rune("אבגדהוזחטיךכלםמןנסעףפץצקרשת{|}~")},
	charsetNationalRussian:       {names: []string{"&5"}, national: true, last: []rune("ЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧ")},
	charsetNationalSerboCroatian: {names: []string{"%3"}, national: true, mappings: parseMappings("@Ž[Š\\Đ]Ć^Č`ž{š|đ}ć~č")},
	charsetNationalTurkish:       {names: []string{"%2"}, national: true, mappings: parseMappings("&ğ@İ[Ş\\Ö]Ç^Ü`Ğ{ş|ö}ç~ü")},
}

// parseMappings parses pairs of a character and its replacement.
func parseMappings(s string) []mapping {
	r := []rune(s)
	m := make([]mapping, 0, len(r)/2)
	for i := 0; i+1 < len(r); i += 2 {
		m = append(m, mapping{r[i], r[i+1]})
	}
	return m
}

// latin1 returns the right half of ISO 8859-1.
func latin1() []rune {
	var m []rune
	for r := rune(0xa1); r < 0xff; r++ {
		m = append(m, r)
	}
	return m
}
