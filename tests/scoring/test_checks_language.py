from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.scoring.checks_language import is_in, language_of

# The languages that IFEval may ask for, and Chinese.
SENTENCES = {
    "en": "The old man walked to the river with his dog, and they sat there until it was dark.",
    "es": "El viejo caminó hasta el río con su perro y se quedaron allí hasta que oscureció.",
    "pt": "O velho caminhou até o rio com seu cachorro e eles ficaram lá até não ver mais nada.",
    "fr": "Le vieil homme marchait vers la rivière avec son chien et ils sont restés dans le noir.",
    "de": "Der alte Mann ging mit seinem Hund zum Fluss und sie blieben dort, bis es dunkel war.",
    "it": "Il vecchio camminava verso il fiume con il suo cane e sono rimasti lì fino a sera.",
    "pl": "Stary człowiek szedł nad rzekę z psem i nie wracał do domu, bo się nie spieszył.",
    "fi": "Vanha mies käveli joelle koiransa kanssa ja he olivat siellä, kun tuli pimeä.",
    "vi": "Ông già đi ra sông với con chó của mình và họ đã ở đó cho đến khi trời tối.",
    "sw": "Mzee alitembea hadi mtoni na mbwa wake, na walikaa huko kwa muda mrefu sana.",
    "ru": "Старик пошёл к реке со своей собакой, и они сидели там, пока не стало темно.",
    "uk": "Старий пішов до річки зі своїм собакою, і вони сиділи там, поки не стало темно.",
    "bg": "Старецът отиде до реката с кучето си и те седяха там, докато се стъмни.",
    "ar": "ذهب الرجل العجوز إلى النهر مع كلبه و جلسا هناك حتى حل الظلام في المساء.",
    "fa": "پیرمرد با سگ خود به کنار رودخانه رفت و آنها تا تاریک شدن هوا در آنجا نشستند.",
    "ur": "بوڑھا آدمی اپنے کتے کے ساتھ دریا پر گیا اور وہ اندھیرا ہونے تک وہاں بیٹھے رہے۔",
    "hi": "बूढ़ा आदमी अपने कुत्ते के साथ नदी पर गया और वे अंधेरा होने तक वहाँ बैठे रहे।",
    "mr": "म्हातारा माणूस आपल्या कुत्र्यासोबत नदीवर गेला आणि ते अंधार होईपर्यंत तिथे बसले.",
    "ne": "बूढो मानिस आफ्नो कुकुरसँग नदीमा गयो र उनीहरू अँध्यारो हुने बेलासम्म त्यहाँ बसेका छन्।",
    "bn": "বৃদ্ধ লোকটি তার কুকুর নিয়ে নদীর ধারে গেল এবং তারা সেখানে বসে রইল।",
    "gu": "વૃદ્ધ માણસ તેના કૂતરા સાથે નદી પર ગયો અને તેઓ ત્યાં બેઠા.",
    "pa": "ਬੁੱਢਾ ਆਦਮੀ ਆਪਣੇ ਕੁੱਤੇ ਨਾਲ ਨਦੀ ਤੇ ਗਿਆ ਅਤੇ ਉਹ ਉੱਥੇ ਬੈਠੇ ਰਹੇ।",
    "ta": "முதியவர் தன் நாயுடன் ஆற்றுக்குச் சென்றார், அவர்கள் அங்கே அமர்ந்தனர்.",
    "te": "ముసలివాడు తన కుక్కతో నదికి వెళ్ళాడు, వారు అక్కడ కూర్చున్నారు.",
    "kn": "ಮುದುಕ ತನ್ನ ನಾಯಿಯೊಂದಿಗೆ ನದಿಗೆ ಹೋದನು ಮತ್ತು ಅವರು ಅಲ್ಲಿ ಕುಳಿತರು.",
    "ml": "വൃദ്ധൻ തന്റെ നായയുമായി നദിയിലേക്ക് പോയി, അവർ അവിടെ ഇരുന്നു.",
    "th": "ชายชราเดินไปที่แม่น้ำกับสุนัขของเขาและนั่งอยู่ที่นั่นจนมืด",
    "ko": "노인은 개와 함께 강으로 가서 어두워질 때까지 그곳에 앉아 있었다.",
    "ja": "老人は犬と一緒に川へ行き、暗くなるまでそこに座っていた。",
    "he": "הזקן הלך אל הנהר עם כלבו והם ישבו שם עד שהחשיך.",
    "zh": "老人带着狗走到河边，一直坐到天黑。",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_is_in_its_language_alone(language: str) -> None:
    text = SENTENCES[language]
    assert language_of(text) == language
    assert [code for code in SENTENCES if is_in(text, code)] == [language]
    assert is_in(text.upper(), language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("我用 Python 和 NumPy 写程序，然后运行测试。", "zh"),
        ("She said 你好 to all of them and left.", "en"),
        ("THE END OF THE ROAD IS NEAR", "en"),
        ("green tea", "en"),
        ("etchings", "und"),
        ("zoo " * 30, "und"),
        ("\n".join(f"{name}stein" for name in "abcdefghijklmnopqrstuvwxyz") * 2, "und"),
        ("12 + 30 = 42", None),
    ],
)
def test_mixed_and_poor_texts(text: str, language: str | None) -> None:
    assert language_of(text) == language


def test_an_unknown_language_is_an_error() -> None:
    with pytest.raises(KeyError):
        is_in("text", "xx")


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=100))
def test_any_text_is_taken(text: str) -> None:
    found = language_of(text)
    assert found is None or len(found) in {2, 3}
