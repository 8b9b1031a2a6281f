"""Words that mean much the same where people name tools: plain English data, no code.

Within a meaning any word may stand for any other, and a word may have several meanings. They come
from general vocabulary, not from the tools of any one vendor. Inflected forms need no entry.
"""

from __future__ import annotations

# What one does with things.
_DOING = """
get fetch retrieve obtain read load pull acquire gain receive
give provide supply offer grant hand | return give yield produce
find search lookup locate query seek discover hunt | list enumerate show display view browse index
show display present reveal exhibit | see look view watch observe
check verify validate confirm inspect test examine ensure | test check trial try | try attempt
create add new make insert build generate register form | generate produce make create
build construct assemble make | add append include attach insert put
delete remove erase drop destroy clear purge discard eliminate wipe | clear empty reset clean
update modify edit change alter revise amend refresh adjust
set configure assign specify define put adjust
send post deliver transmit submit dispatch mail forward | share distribute publish
publish post release issue | write save store record persist compose
save store keep preserve retain | copy duplicate clone replicate
move relocate transfer shift migrate | replace swap substitute exchange | rename retitle
open unlock | launch start begin run execute invoke initiate trigger commence
stop end halt terminate kill quit finish close cease | finish complete end conclude
pause suspend hold | wait delay pause | resume continue restart proceed | restart reboot reset
repeat loop retry again | cancel abort revoke undo withdraw | undo revert restore rollback
restore recover | enable activate | disable deactivate | turn switch toggle flip rotate
join merge combine concatenate unite consolidate | split divide separate partition break
sort order arrange rank organise organize | group cluster collect gather
collect gather accumulate | filter select choose pick | choose select pick elect opt
compare contrast match | count number total tally | sum total add | subtract deduct minus
multiply times | divide split ratio | increase raise grow boost | increase growth rise
decrease reduce lower cut shrink drop | limit restrict cap bound
calculate compute determine evaluate work figure | measure gauge quantify
estimate approximate predict forecast project guess | determine establish ascertain decide
guess predict | simulate model emulate | convert transform translate change turn
translate interpret | analyse analyze examine study assess evaluate investigate
review inspect examine assess | identify recognise recognize detect determine
detect sense discover spot notice | classify categorise categorize label sort
summarise summarize summary abstract digest overview brief | describe explain detail characterise
explain clarify interpret describe | extract parse scrape | download fetch | upload send put
import load | export dump | install setup deploy | deploy release rollout
connect link attach join bind | disconnect detach unlink | login signin authenticate logon
logout signout logoff | subscribe follow enrol enroll | register enrol enroll signup
notify alert warn notification inform tell | warn caution | alert alarm warning notification
remind reminder | schedule plan arrange appointment | book reserve reservation booking
buy purchase order acquire | sell trade vend | pay payment settle remit | spend expend
earn gain make | refund reimburse repay | owe debt | borrow lend loan | rent hire lease let
own possess have | allow permit grant authorise authorize let enable
deny refuse reject block forbid ban decline | approve accept agree | block ban bar stop
invite invitation ask | request ask demand | reply respond answer response
ask question query enquire inquire | tell say inform | speak talk say
call phone ring telephone dial | call invoke | play listen | play perform | watch view see
draw plot paint graph sketch render | print output | lock secure | protect secure guard defend
encrypt encode cipher | decrypt decode decipher | compress zip archive pack
decompress unzip extract unpack | suggest recommend propose suggestion recommendation advise
help assist support aid | support maintain | track monitor trace follow
monitor watch observe supervise | manage handle administer control | control command govern
solve resolve | fix repair mend correct | improve enhance optimise optimize better | prepare ready
cook prepare bake | use utilise utilize employ apply | need require | want desire wish
visit tour attend | travel trip journey tour voyage | go move travel | fly flight | ride drive
leave depart exit departure | arrive arrival reach land | learn study | teach instruct train educate
click press tap | type enter input | enter input insert | scroll swipe | touch tap press
hide conceal | highlight emphasise mark | format style layout | attach fasten | throw toss roll flip
win victory | lose loss defeat | vote ballot elect | reward bonus | escalate transfer
"""

# Computing, files and messages.
_COMPUTING = """
folder directory | file document doc | page sheet leaf | paragraph passage section
section part segment chapter | heading header title headline | footnote note annotation
picture image photo photograph illustration | video film movie clip footage
film movie motion cinema | audio sound | music song track tune audio melody | book novel volume
article paper publication essay | story tale narrative | news headline | web internet online
website site webpage page | browser explorer | url link address uri hyperlink
mail email message inbox | message text sms chat note
conversation chat dialogue dialog discussion | thread topic discussion | channel room
post message entry | user account person member customer profile | account profile | username login
error fault failure bug issue problem mistake | issue ticket problem | bug defect | incident event
log history record journal | history past chronicle | database db | table grid | row record line
column field | record entry | key identifier id | id identifier number
password passcode passphrase
credential login password | token key | status state condition
setting configuration option preference config
property attribute parameter characteristic feature | parameter argument
feature capability function | value amount worth | list collection array series | data information
detail information info data particular | information info knowledge | statistics stats metrics
metric measure indicator | result outcome output | output result | score points | tag label category
category type kind class genre sort | version release edition | permission right access privilege
role position function | phone telephone mobile cellphone | device gadget appliance equipment
server host machine computer | computer machine pc laptop | container pod | cluster group
network net | screen display monitor | screenshot capture snapshot | button key
command instruction order | code program script source | program application app software
tool instrument utility | function method routine procedure | repository repo | branch fork
backup copy | memory storage | disk drive | text string content wording | content contents body
word term | phrase expression | language tongue | size length dimension magnitude
pattern regex template | template form | format layout | queue line | process procedure task
service facility | session visit | report account statement | report summary
chart graph diagram plot | map chart atlas | default standard
"""

# People, work, money and trade.
_SOCIETY = """
person people human individual | people persons humans folk
population inhabitants people residents | resident inhabitant citizen | man male | woman female
child kid | parent mother father | spouse partner wife husband | friend companion buddy
name title label | birthday birth | customer client buyer shopper consumer | owner holder proprietor
employee worker staff personnel | worker labourer employee | boss manager supervisor
manager director head leader | doctor physician medic | hospital clinic | nurse carer
lawyer attorney solicitor advocate counsel | judge magistrate | court tribunal | case lawsuit suit
law statute legislation act rule | rule regulation law policy | crime offence offense felony
criminal offender | police cop | contract agreement deal | policy rule guideline
company business firm organisation organization corporation enterprise | office bureau
team group squad crew | group team set band | member participant | participant attendee member
recipient receiver addressee | sender author | author writer | creator maker author
job task work assignment | job position career occupation employment profession
project undertaking scheme | plan scheme strategy | goal aim target objective purpose
meeting event appointment calendar | event occasion happening | appointment meeting slot
schedule timetable agenda itinerary calendar | party celebration | wedding marriage
money price cost currency fee amount cash | price cost rate fee charge | price value worth
currency exchange | cash money | coin money | budget funds allowance | bill invoice
salary wage income pay earnings | income earnings revenue | revenue turnover sales
profit gain margin | loss deficit | tax duty levy | bank finance | balance remainder
transaction transfer payment | loan mortgage credit | interest yield | invest investment
stock share equity | portfolio holdings | shop store market | market bazaar
product item goods article merchandise | item product thing object element | inventory stock
discount coupon reduction | cart basket | order purchase | package parcel
delivery shipment shipping | warranty guarantee | insurance cover | cheap inexpensive affordable
expensive costly dear | free gratis | available free | sale offer deal | donation gift contribution
ticket pass | voucher coupon | brand make | quantity amount number | amount quantity sum
number figure digit | percent percentage | rate ratio | rate speed
school college university academy | student pupil learner | teacher instructor tutor professor
class course lesson | grade mark score rating | rating grade score stars | exam test
question query
review feedback comment critique | comment note remark | note memo | game match | player athlete
sport athletics | champion winner | tournament competition contest championship | league division
book volume | library archive | museum gallery | art artwork painting | painting picture canvas
sculpture statue | religion faith belief | war battle conflict | king monarch ruler
president leader | country nation state | government administration | election vote
"""

# The world around: places, time, nature, health, food, measures.
_WORLD = """
address location place | location place position spot where site | position place location
area region zone district | area surface | region zone territory | near nearby close around
nearest closest | boundary border edge limit | city town municipality | village hamlet
country nation | capital city | street road avenue | road street highway | route path direction way
direction heading bearing | origin source start | destination target endpoint | distance length far
hotel accommodation lodging inn motel hostel | house home property residence apartment flat
apartment flat | room chamber | building structure | restaurant diner cafe eatery bistro | bar pub
park garden | attraction sight landmark | beach shore coast | mountain hill peak | river stream
lake pond | sea ocean | forest wood | car vehicle auto automobile | cab taxi ride | truck lorry
bus coach | train rail railway | bike bicycle cycle | ship boat vessel | plane aircraft airplane
flight plane | airline carrier | airport airfield | station stop | passenger traveller traveler
luggage baggage | trip journey travel tour | holiday vacation | weather forecast climate
forecast prediction outlook | temperature heat | rain rainfall precipitation | snow snowfall
wind breeze | storm tempest | cloud overcast | sun sunshine | humidity moisture | pollution smog
earthquake quake | date day | time hour clock | year annual | month monthly | week weekly
day daily
today now | now current today present | current present actual existing | recent latest newest last
latest newest recent | new fresh recent | old previous past former prior history aged
next upcoming future following | early soon | late tardy | duration length period span
period term interval span | deadline due | timer countdown | alarm timer | always constantly
often frequently | frequency rate | first initial | last final | begin start | final last ultimate
big large huge great | small little tiny | long lengthy extended | short brief | tall high
height altitude elevation | high tall elevated | low short | deep depth | wide broad width
width breadth | maximum max highest top most | minimum min lowest least | top best leading
best finest optimal | good fine | bad poor | average mean | fast quick rapid speed
speed velocity pace | acceleration speedup | weight mass heaviness | volume capacity
force power strength | power energy | energy power | pressure stress | electric electrical
light lamp illumination | colour color hue shade | shape form | circle round disc | rectangle box
edge side | angle corner | equation formula expression | math mathematics arithmetic maths
random arbitrary | probability chance likelihood odds | difference gap change
sequence series order | prime primary | exact precise accurate | specific particular certain given
all every each whole entire | complete full entire whole | multiple several many
single one individual | extra additional more | similar alike like | different various other
important significant major | easy simple | hard difficult | active live running | inactive idle
pending waiting outstanding | visible shown | public open | private personal confidential
safe secure | health wellness fitness | illness disease sickness ailment | symptom sign
medicine drug medication | treatment therapy cure | allergy intolerance | exercise workout training
diet nutrition | calorie energy | food meal dish cuisine | cuisine food cooking
recipe instructions
ingredient component | drink beverage | fruit produce | vegetable veg | breakfast lunch dinner meal
animal pet creature | dog puppy | cat kitten | plant flower | tree plant | species kind
gene genetic dna | cell cellular | chemical compound substance | substance material
element component part | experiment test study | science research | research study investigation
invention discovery | theory hypothesis | planet world | star sun | clothes clothing apparel
size dimension | gift present
"""

MEANINGS: tuple[tuple[str, ...], ...] = tuple(
    tuple(meaning.split())
    for table in (_DOING, _COMPUTING, _SOCIETY, _WORLD)
    for meaning in table.strip().replace("\n", "|").split("|")
)
