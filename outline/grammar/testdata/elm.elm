port module Main exposing (Model, Msg(..), main, update, view)

{-| A counter with a list of names.

More about it.
-}

import Browser
import Dict exposing (Dict)
import Html exposing (Html, button, div, text)
import Html.Events as Events
import Json.Decode as Decode exposing (Decoder, field)


{-| What the page knows.
-}
type alias Model =
    { count : Int
    , names : List String
    , table : Dict String Int
    , status : Status
    }


type alias Pair a b =
    ( a, b )


-- What can happen.
type Msg
    = Increment
    | Decrement
    | Rename Int String
    | Loaded (Result Http.Error (List String))


type Status
    = Idle
    | Busy { since : Int }


type Tree comparable
    = Leaf
    | Node (Tree comparable) comparable (Tree comparable)


port save : String -> Cmd msg


port loaded : (String -> msg) -> Sub msg


infix left 6 (|=) = keeper


main : Program () Model Msg
main =
    Browser.element
        { init = init
        , view = view
        , update = update
        , subscriptions = subscriptions
        }


init : () -> ( Model, Cmd Msg )
init _ =
    ( { count = 0, names = [], table = Dict.empty, status = Idle }
    , Cmd.none
    )


{-| Applies a message.
-}
update : Msg -> Model -> ( Model, Cmd Msg )
update msg model =
    case msg of
        Increment ->
            ( { model | count = model.count + 1 }, Cmd.none )

        Decrement ->
            ( { model | count = model.count - 1 }, Cmd.none )

        Rename index name ->
            let
                rename i old =
                    if i == index then
                        name

                    else
                        old

                names : List String
                names =
                    List.indexedMap rename model.names
            in
            ( { model | names = names }, save name )

        Loaded (Ok names) ->
            ( { model | names = names }, Cmd.none )

        Loaded (Err _) ->
            ( model, Cmd.none )


subscriptions : Model -> Sub Msg
subscriptions _ =
    Sub.none


view : Model -> Html Msg
view model =
    div []
        [ button [ Events.onClick Decrement ] [ text "-" ]
        , div [] [ text (String.fromInt model.count) ]
        , button [ Events.onClick Increment ] [ text "+" ]
        , viewNames model.names
        ]


viewNames names =
    let
        item name =
            Html.li [] [ text name ]

        ( first, rest ) =
            ( List.head names, List.tail names )
    in
    Html.ul [] (List.map item names)


limit =
    100


keeper : Decoder (a -> b) -> Decoder a -> Decoder b
keeper =
    Decode.map2 (<|)


insert : comparable -> Tree comparable -> Tree comparable
insert new tree =
    case tree of
        Leaf ->
            Node Leaf new Leaf

        Node left value right ->
            if new < value then
                Node (insert new left) value right

            else
                Node left value (insert new right)


apply : (a -> b) -> a -> b
apply f x =
    f x
