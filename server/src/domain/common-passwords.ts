/**
 * The most common passwords, in lower case and without added digits and signs: `Password123!` and `P@ssw0rd` are both
 * `password`. Only words that people extend to ten characters matter.
 */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `
  abc abcd abcde abcabc access account admin administrator adminadmin adobe airforce amanda america andrea andrew angel
  angels anthony apple arsenal asdf asdfasdf asdfgh asdfghj asdfghjk asdfghjkl asdfjkl ashley asshole august austin autumn
  awesome baby babygirl badboy bailey banana barcelona baseball basketball batman beautiful blink blessed blackberry
  boomer brandon butterfly buster canada carolina carlos changeme changethis charlie cheese chelsea chester chicago
  chicken chocolate christian christmas christopher computer cookie corvette cowboys crystal customer dallas dance daniel
  database december default demo diamond doctor dolphin dragon dragonball eagles elephant elizabeth email enter evertonfc
  facebook family fashion february ferrari flower football forever forgotpassword freedom friday friend friends fuckyou
  fuckyouall gandalf gateway george ginger goodluck google guest guitar hannah happy harley heather hello helloworld hockey
  hunter iceman iloveme iloveu iloveyou iloveyousomuch imthebest internet inuyasha jackson january jasmine jennifer jesus
  jesuschrist jessica jordan joseph joshua justin killer kingdom kitty knight letmein letmeinnow letmeinplease liverpool
  liverpoolfc login logmein london lovely loveme lovelove loveyou lucky maggie manchester manunited marina market marlboro
  martin master mastercard matrix matthew melissa mercedes merlin metallica michael michelle microsoft minecraft mobile
  monday money monkey monster mother mustang mypassword mynameis myspace naruto nascar newyork nicholas nicole nirvana
  nopassword november nothing office october orange organization owner parola parool pass passcode passpass passphrase
  passwd passwort password passwords passwordpassword patrick peanut pepper phoenix pikachu pokemon porsche postgres
  princess private princesa purple qazwsx qazwsxedc qazxsw qwaszx qwer qweasd qweasdzxc qweqwe qwert qwerty qwertyqwerty
  qwertyu qwertyui qwertyuiop qwertz qwertzuiop azerty azertyuiop rainbow rangers ranger realmadrid robert root rockyou
  samantha samsung saturday secret secretpassword security september server service shadow silver slipknot soccer
  something spiderman spring starwars summer sunday sunflower sunshine superman superuser support sweety sysadmin system
  target taylor teacher temp temporary test tester testing testtest thankyou thomas thunder thursday tigger tinkerbell
  tollgate toor trustno tuesday united user username valentine vanessa victoria wednesday welcome welcomeback whatever
  william windows winner winter wordpass yankees yourpassword zaqwsx zxcvbn zxcvbnm
  qwertyqaz qqwweerrtt qawsedrf qawsedrftg qazwsxedcrfv zaqxsw zaqxswcde poiuytrewq lkjhgfdsa mnbvcxz
  `
    .trim()
    .split(/\s+/),
)

/** Keyboard patterns that removing digits and signs would destroy. */
export const KEYBOARD_WALKS: ReadonlySet<string> = new Set(
  `
  1q2w3e4r5t 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1qaz2wsx3edc 1qaz2wsx3edc4rfv 1qaz1qaz1q 1qazxsw23edc 1qazzaq1 q1w2e3r4t5
  q1w2e3r4t5y6 zaq12wsx zaq12wsxcde3 zaq1xsw2cde3 qaz123wsx 1234qwer 1234qwerasdf 123qweasdzxc 123qwe123qwe 12qwaszx
  qwer1234 qwerty123456 asdf1234 asdfghjkl1 abcd1234 abcd123456 abc123456789 a1b2c3d4e5 a1s2d3f4g5 1a2b3c4d5e 12345qwert
  qwert12345 1234abcd5678 123abc456def q1q1q1q1q1 qwe123qwe123 qweasd123456
  `
    .trim()
    .split(/\s+/),
)
